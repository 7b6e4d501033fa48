// Where the windows of a long sequence start, and which bases are reported from each window
// (docs/conventions.md, "Score windows").
//
// Pure arithmetic on lengths, without sequences or a model.
#pragma once

#include <cstddef>
#include <vector>

namespace carbon {

/// Bases [begin, end) are scored as one window. Of these, [take, end) are reported from it, because earlier
/// windows do not reach them; so a base is reported from the window that gives it the longest left context.
/// Positions are 0-based in reading direction.
struct SlidingWindow {
  size_t begin = 0, take = 0, end = 0;
};

/// Returns windows that start at 0, stride, 2*stride, ... until one reaches `length`; none for an empty
/// sequence. Window and stride are positive multiples of the bases of a token, and stride <= window.
std::vector<SlidingWindow> sliding_windows(size_t length, size_t window, size_t stride);

/// The largest default window in bp (8,190 6-mers).
inline constexpr size_t kMaxDefaultWindow = 49140;
/// min(49,140, k * (max_positions - 2)) bp for tokens of `bases` = k bases. For tokens of one base it is what
/// fits, max_positions - 1: such models were trained on windows that fill their context.
size_t default_window(size_t max_positions, size_t bases);
/// Half a window in bp, rounded down to a multiple of `bases`, at least that.
size_t default_stride(size_t window, size_t bases);

}  // namespace carbon
