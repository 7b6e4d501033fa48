#include "src/score/windows.hpp"

#include <algorithm>

namespace carbon {

std::vector<SlidingWindow> sliding_windows(size_t length, size_t window, size_t stride) {
  std::vector<SlidingWindow> windows;
  size_t covered = 0;
  for (size_t begin = 0; covered < length; begin += stride) {
    const size_t end = std::min(begin + window, length);
    windows.push_back({begin, covered, end});
    covered = end;
  }
  return windows;
}

size_t default_window(size_t max_positions, size_t bases) {
  if (bases == 1) return max_positions - 1;
  return max_positions > 2 ? std::min(kMaxDefaultWindow, bases * (max_positions - 2)) : bases;
}

size_t default_stride(size_t window, size_t bases) {
  return std::max(bases, bases * (window / (2 * bases)));
}

}  // namespace carbon
