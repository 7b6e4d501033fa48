#include "src/scan/grid.hpp"

#include <algorithm>
#include <string>

#include "src/base/error.hpp"

namespace carbon {

int64_t default_scan_context(size_t max_positions, size_t bases) {
  const auto kmers = static_cast<int64_t>(max_positions) - 1, length = static_cast<int64_t>(bases);
  return 2 * kMostScanContext > length * kmers ? length * (kmers / 3) : kMostScanContext;
}

ScanGrid make_scan_grid(int64_t context, size_t max_positions, size_t bases) {
  const auto kmers = static_cast<int64_t>(max_positions) - 1, length = static_cast<int64_t>(bases);
  const int64_t largest = length * (kmers - 1);
  const std::string given = "a context of " + std::to_string(context) + " bp";
  if (context > largest)
    throw SettingError("scan", "context",
                       given + " does not fit the model's context of " + std::to_string(max_positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--context}"});
  if (context <= 0 || context % length != 0)
    throw SettingError("scan", "context",
                       given + " cannot be used; expected a positive multiple of " + std::to_string(length),
                       {"set it with {--context}"});
  ScanGrid grid{length, context, std::min(kmers, 3 * context / length), 0};
  grid.stride = grid.window - context / length;
  return grid;
}

ScanWindow window_of(const ScanGrid& grid, int64_t frame, int64_t position) {
  const int64_t length = grid.bases * grid.window, step = grid.bases * grid.stride;
  const int64_t behind_first = position - frame - length;  // bases after window 0, which has no context
  const int64_t index = behind_first < 0 ? 0 : 1 + behind_first / step;
  const int64_t begin = frame + index * step;
  return {begin, index == 0 ? begin : begin + grid.context, begin + length};
}

}  // namespace carbon
