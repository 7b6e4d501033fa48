// The windows of a contig that a model annotates, and the mean of what it says of a base in each of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "src/annotate/gene.hpp"

namespace carbon {

/// In bases, multiples of those of a token.
struct WindowSizes {
  int64_t window = 0, overlap = 0, token = 6;
};

/// Windows begin every `window - overlap` bases; the last one ends with the contig. A contig that is shorter
/// than a window has one over its first whole tokens, and another over its last ones if these are not the
/// same.
struct AnnotatedWindow {
  Interval place;
  /// Bases before this one are in no later window.
  int64_t final_end = 0;
  bool last = false;  // of those that are visited
};

/// Visits those windows of a contig of `bases` bases, ascending, that hold a base of one of the `wanted`
/// intervals, which ascend and do not overlap, from `from` on. None if the contig is shorter than a token.
void visit_windows(int64_t bases, const WindowSizes& sizes, std::span<const Interval> wanted, int64_t from,
                   const std::function<void(const AnnotatedWindow&)>& visit);

/// How many windows visit_windows() visits for a whole contig.
int64_t count_windows(int64_t bases, const WindowSizes& sizes);

/// The mean probability of each base over its windows: sums in double, ascending, rounded to f32 at the end.
class MeanProbabilities {
 public:
  using Emit = std::function<void(int64_t begin, std::span<const float> plus, std::span<const float> minus)>;

  /// `emit` gets the values of consecutive bases on both strands, from `from` on. Those that no window covers
  /// are 0.
  MeanProbabilities(int64_t from, Emit emit) : begin_(from), emit_(std::move(emit)) {}

  /// Adds a window whose logits are [tokens, 2 strands, bases of a token, 2 classes]; bases that are emitted
  /// already are left out.
  void add(const Interval& window, int64_t token, std::span<const float> logits);
  /// Emits all bases before `end`.
  void finish(int64_t end);
  /// Leaves out all bases before `begin`.
  void skip(int64_t begin);

 private:
  struct Sum {
    double plus = 0, minus = 0;
    int64_t count = 0;
  };
  int64_t begin_;
  std::vector<Sum> sums_;  // of the bases from begin_ on
  std::vector<float> plus_, minus_;
  Emit emit_;
};

}  // namespace carbon
