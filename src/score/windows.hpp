// Where the windows of a long sequence start, and which bases each one answers for (docs/conventions.md, "Score windows").
//
// Pure arithmetic on lengths; no sequence, no model.
#pragma once

#include <cstddef>
#include <vector>

namespace carbon {

/// Bases [begin, end) are scored as one window; [take, end) of them are reported from it, because no earlier
/// window reaches them: they have their longest left context here. All in reading direction, 0-based
/// half-open.
struct SlidingWindow {
  size_t begin = 0, take = 0, end = 0;
};

/// Windows starting at 0, stride, 2*stride, ... until one reaches `length`; none for an empty sequence.
/// window and stride are positive multiples of 6, stride <= window.
std::vector<SlidingWindow> sliding_windows(size_t length, size_t window, size_t stride);

/// The largest default window, in bp (8,190 six-mers).
inline constexpr size_t kMaxDefaultWindow = 49140;
/// min(49,140, 6 * (max_positions - 2)), and half of a window rounded down to a 6-mer boundary (at least one
/// 6-mer).
size_t default_window(size_t max_positions);
size_t default_stride(size_t window);

}  // namespace carbon
