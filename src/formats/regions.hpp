// Regions as users write them, in options and in files of every kind, of which this is the one reader, and
// which records of a VCF they select, by the rules of bcftools. What they select in a FASTA is up to
// sequence_inputs.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
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

// Which records of a VCF they select. Only overlap: jumping by an index and reading records belong to the VCF
// reader.

/// Which part of a record must overlap a region: POS, the bases of REF (or up to END), or the bases that
/// differ between REF and ALT.
enum class VcfOverlap { pos, record, variant };

/// Reads `pos`, `record` or `variant`, or 0, 1 or 2. Throws Error for any other text, in which `option` says
/// what the text was for.
VcfOverlap parse_vcf_overlap(const std::string& text, const std::string& option);

/// 0-based, both ends included. With begin = end + 1 it is the place between two bases, as of an insertion.
struct VcfInterval {
  int64_t begin = 0, end = 0;
};

/// The part of a record that must overlap. `length` is the number of reference bases that the record spans.
VcfInterval vcf_extent(VcfOverlap overlap, int64_t pos, int64_t length, const std::string& ref,
                       const std::vector<std::string>& alts);

class VcfRegions {
 public:
  struct Contig {
    std::string name;
    std::vector<VcfInterval> intervals;
  };

  VcfRegions() = default;
  /// Overlapping intervals are merged.
  explicit VcfRegions(const std::vector<WrittenRegion>& regions);
  /// From a list with commas, as bcftools reads it. `known` says which contigs the records may be on. Throws
  /// Error.
  static VcfRegions from_list(const std::string& text, const KnownContig& known = {});
  /// From a file (read_region_file()). If it has a tabix index, its regions stay as they are, as those of
  /// bcftools do; otherwise overlapping intervals are merged. Throws Error.
  static VcfRegions from_file(const std::string& path, const KnownContig& known = {},
                              Log& log = silent_log());

  /// The contigs in the order of their first appearance, each with its intervals in the order to visit them.
  const std::vector<Contig>& contigs() const { return contigs_; }
  /// Sorts and merges the intervals of each contig.
  void merge();
  /// Whether an interval overlaps `extent`. Only for merged regions. As in bcftools, a record at POS 0
  /// overlaps every region of its contig.
  bool overlap(const std::string& contig, const VcfInterval& extent) const;

 private:
  void add(const WrittenRegion& region);

  std::vector<Contig> contigs_;
  std::unordered_map<std::string, size_t> numbers_;  // of contigs, by name
};

}  // namespace carbon
