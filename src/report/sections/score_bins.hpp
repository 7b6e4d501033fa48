// The bins of a histogram of scores: of equal width, with round edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace carbon {

/// Bins whose edges are multiples of a step of 1, 2 or 5 times a power of ten. A bin has the values from its
/// lower edge up to, but not including, its upper edge; the last one has its upper edge, too.
class ScoreBins {
 public:
  ScoreBins() = default;
  /// About 60 to 130 bins that hold `least` and `most`. The two may be equal.
  ScoreBins(double least, double most);

  size_t size() const { return size_; }
  /// The edges 0 to size(): the double that is nearest to the decimal number.
  double edge(size_t i) const;
  double width() const;
  /// The bin of a value, -1 below all, size() above all.
  int64_t find(double value) const;

 private:
  int64_t first_ = 0;
  size_t size_ = 0;
  int factor_ = 1, power_ = 0;  // the step
};

/// Counts in bins, and beside them.
struct BinCounts {
  std::vector<uint64_t> counts;
  uint64_t below = 0, above = 0;

  void add(const ScoreBins& bins, float value);
};

}  // namespace carbon
