// The region lists that select VCF records, -r/-R and -t/-T, under bcftools' rules.
//
// Parsing and overlap only: jumping by an index and reading records belong to the VCF reader. FASTA commands
// have other rules (regions.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace carbon {

/// What of a record must overlap a region: POS, the bases of REF (or up to END), or the bases that differ.
enum class VcfOverlap { pos, record, variant };

/// `pos`, `record`, `variant`, or 0, 1, 2. `option` names the option in the Error.
VcfOverlap parse_vcf_overlap(const std::string& text, const std::string& option);

/// 0-based, both ends included; begin > end holds between two bases, as an insertion does.
struct VcfInterval {
  int64_t begin = 0, end = 0;
};

/// The part of a record that is compared. `length` is the number of reference bases it spans.
VcfInterval vcf_extent(VcfOverlap overlap, int64_t pos, int64_t length, const std::string& ref,
                       const std::vector<std::string>& alts);

class VcfRegions {
 public:
  struct Contig {
    std::string name;
    std::vector<VcfInterval> intervals;
  };

  /// A comma list of `chr`, `chr:pos`, `chr:beg-end`, `chr:beg-`, `chr:-end`; {name:with:colons}:beg-end.
  static VcfRegions from_list(const std::string& text);
  /// One region a line: CHROM POS or CHROM BEG END, 1-based; BED, 0-based, when named .bed or .bed.gz; VCF
  /// counts by POS. A file with a tabix index is read with the columns of that index and keeps its lines
  /// apart; of any other the overlapping intervals are merged.
  static VcfRegions from_file(const std::string& path);

  /// Contigs in their first order of appearance, each with its intervals in the order to visit them.
  const std::vector<Contig>& contigs() const { return contigs_; }
  /// Sorts and merges the intervals of each contig.
  void merge();
  /// Whether an interval overlaps `extent`; for merged regions only. As in bcftools a record at POS 0
  /// overlaps every region of its contig.
  bool overlap(const std::string& contig, const VcfInterval& extent) const;

 private:
  void add(const std::string& contig, const VcfInterval& interval);

  std::vector<Contig> contigs_;
  std::unordered_map<std::string, size_t> numbers_;  // of contigs, by name
};

}  // namespace carbon
