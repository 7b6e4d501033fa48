// The regions that select VCF records, by the rules of bcftools.
//
// Only overlap: jumping by an index and reading records belong to the VCF reader.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/formats/regions.hpp"

namespace carbon {

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
  /// From a file (regions.hpp). If it has a tabix index, its regions stay as they are, as those of bcftools
  /// do; otherwise overlapping intervals are merged. Throws Error.
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
