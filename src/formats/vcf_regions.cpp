// Which records of a VCF regions select.

#include "src/formats/vcf_regions.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"

namespace carbon {

VcfOverlap parse_vcf_overlap(const std::string& text, const std::string& option) {
  constexpr const char* names[] = {"pos", "record", "variant"};
  for (int i = 0; i < 3; ++i) {
    if (equal_letters(text, names[i]) || text == std::to_string(i)) return static_cast<VcfOverlap>(i);
  }
  throw Error("read_regions", option + " " + text + ": expected pos, record or variant, or 0, 1 or 2");
}

VcfInterval vcf_extent(VcfOverlap overlap, int64_t pos, int64_t length, const std::string& ref,
                       const std::vector<std::string>& alts) {
  if (overlap == VcfOverlap::pos) return {pos, pos};
  if (overlap == VcfOverlap::record) return {pos, pos + length - 1};
  int64_t common = length;
  for (const std::string& alt : alts) {
    const auto differ = std::mismatch(ref.begin(), ref.end(), alt.begin(), alt.end());
    common = std::min<int64_t>(common, differ.first - ref.begin());
  }
  return {pos + common, pos + length - 1};
}

// A region without bases selects nothing.
void VcfRegions::add(const WrittenRegion& region) {
  if (region.begin == region.end) return;
  const auto [entry, added] = numbers_.emplace(region.contig, contigs_.size());
  if (added) contigs_.push_back({region.contig, {}});
  contigs_[entry->second].intervals.push_back({region.begin, region.end - 1});
}

void VcfRegions::merge() {
  for (Contig& contig : contigs_) {
    std::vector<VcfInterval>& intervals = contig.intervals;
    std::sort(intervals.begin(), intervals.end(),
              [](const VcfInterval& a, const VcfInterval& b) { return a.begin < b.begin; });
    size_t kept = 0;
    for (const VcfInterval& interval : intervals) {
      if (kept > 0 && intervals[kept - 1].end >= interval.begin) {
        intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
      } else {
        intervals[kept++] = interval;
      }
    }
    intervals.resize(kept);
  }
}

bool VcfRegions::overlap(const std::string& contig, const VcfInterval& extent) const {
  const auto entry = numbers_.find(contig);
  if (entry == numbers_.end()) return false;
  if (extent.begin < 0) return true;
  const std::vector<VcfInterval>& intervals = contigs_[entry->second].intervals;
  const auto first =
      std::lower_bound(intervals.begin(), intervals.end(), extent.begin,
                       [](const VcfInterval& interval, int64_t position) { return interval.end < position; });
  return first != intervals.end() && first->begin <= extent.end;
}

VcfRegions::VcfRegions(const std::vector<WrittenRegion>& regions) {
  for (const WrittenRegion& region : regions) add(region);
  merge();
}

VcfRegions VcfRegions::from_list(const std::string& text, const KnownContig& known) {
  return VcfRegions(parse_region_list(text, RegionStyle::bcftools, known));
}

VcfRegions VcfRegions::from_file(const std::string& path, const KnownContig& known, Log& log) {
  VcfRegions regions;
  const RegionRules rules = {.style = RegionStyle::bcftools, .known = known};
  if (!read_region_file(path, rules, log, [&](const WrittenRegion& one, auto&) { regions.add(one); }))
    regions.merge();
  return regions;
}

}  // namespace carbon
