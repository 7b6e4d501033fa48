// Regions as users write them: in options, and in files of every kind. The one reader of both; what a region
// selects is up to fasta_regions.hpp (bases of a FASTA) and vcf_regions.hpp (records of a VCF).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log.hpp"

namespace carbon {

/// In what bcftools and samtools differ: `chr:100` is one position for bcftools, and for samtools all from
/// there to the end; `chr:` is the whole contig for samtools, and an error for bcftools.
enum class RegionStyle { bcftools, samtools };

/// The end of a region that has none. Larger than any position in a CSI index with htslib's defaults.
inline constexpr int64_t kOpenEnd = (int64_t{1} << 44) - 2;

struct WrittenRegion {
  std::string contig;
  int64_t begin = 0, end = kOpenEnd;  // 0-based, half-open; begin is -1 for position 0 of a VCF
  std::string name = {};              // of a BED line or a feature; "" without
  char strand = '.';
};

/// Whether a contig is known; empty if that cannot be asked, so that the form of a text has to decide.
using KnownContig = std::function<bool(const std::string&)>;

/// Reads `chr`, `chr:pos`, `chr:beg-end`, `chr:beg-` or `chr:-end`. Numbers may have commas and be written as
/// 1.5e6 or 10k. A name with a colon may be written as {name}, which it must be if it is not known, or if two
/// known names are possible. Throws Error.
WrittenRegion parse_written_region(std::string_view text, RegionStyle style, const KnownContig& known);

/// The same for a list with commas. Throws Error also if it has no region.
std::vector<WrittenRegion> parse_region_list(std::string_view list, RegionStyle style,
                                             const KnownContig& known);

/// How a file of regions is read.
struct RegionRules {
  RegionStyle style = RegionStyle::bcftools;  // of lines that are regions as in options
  KnownContig known = {};                     // for these lines
  std::vector<std::string> features = {};     // of a gene model: which types; empty for all
  std::vector<std::string> names = {};        // of a gene model: the attributes that may have the name
};

/// Reads a file with one region on each line, and calls `take` for each, which may have no bases (BEG = END
/// in BED), with a function that says where it stands, `path:line`. Lines are CHROM POS, CHROM BEG END (both
/// counted from 1), or regions as in options, mixed as one likes; tabs, or spaces where a line has no tab,
/// separate columns. A file named .bed is BED, counted from 0; GFF3 and GTF are known by name or by their
/// lines, and of a VCF POS is read. If the file has a tabix index, that says where the columns are, and the
/// function returns true. Throws Error, which names file and line, and if no region has a base.
bool read_region_file(
    const std::string& path, const RegionRules& rules, Log& log,
    const std::function<void(WrittenRegion&, const std::function<std::string()>& where)>& take);

}  // namespace carbon
