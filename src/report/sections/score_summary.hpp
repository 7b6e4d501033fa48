// Number, mean, extremes and quartiles of a stream of floats, exactly, in memory that does not grow with it.
//
// The stream is read twice. The first time counts values by the upper half of their bits, which finds where a
// quartile lies; the second time counts those few parts by the lower half.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace carbon {

/// Counts of numbers of 16 bits. Only the parts that occur take memory: at most 512 KiB.
class ShortCounts {
 public:
  void add(uint16_t number, uint64_t count = 1);
  void add(const ShortCounts& other);
  uint64_t count(uint16_t number) const;
  /// The number at a place of the sorted numbers, which is changed to the place among those equal to it.
  /// Returns false if there are not so many.
  bool at(uint64_t& place, uint16_t& number) const;

 private:
  using Page = std::array<uint64_t, 256>;
  std::array<std::unique_ptr<Page>, 256> pages_;
};

class ScoreSummary {
 public:
  /// The first time, for each value. None is NaN.
  void add(float value);
  /// Takes the values of another summary, too, before end_first().
  void add(const ScoreSummary& other);
  /// Between the two times.
  void end_first();
  /// The second time, for each value again.
  void add_again(float value);

  uint64_t count() const { return count_; }
  double mean() const;  // NaN without values, as are all that follow
  double least() const;
  double most() const;
  /// A quantile, linear between the two nearest values as numpy.quantile has it, for the shares 1/4, 1/2 and
  /// 3/4. Throws Error if the second time had other values than the first.
  double quartile(int number) const;
  /// A value near a quantile, to within 1 % of its size, or near the next value further from the middle. It
  /// is known after the first time.
  double rough_quantile(double share) const;

 private:
  struct Part {
    uint16_t upper;
    ShortCounts lower;
  };
  double value_at(uint64_t place) const;

  uint64_t count_ = 0;
  double sum_ = 0, lost_ = 0;  // a sum, and what rounding took from it
  float least_ = 0, most_ = 0;
  ShortCounts upper_;
  std::vector<Part> parts_;
};

}  // namespace carbon
