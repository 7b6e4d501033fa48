#include "kernels/cpu/cpu_tasks.hpp"

#include <algorithm>

#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {
namespace {
constexpr size_t kMostPanels = 16;
constexpr size_t kLeastRows = 48;  // with fewer rows a block takes longer for each
// Some blocks take longer than others: the last thread ends later than its number of blocks accounts for, by
// kLate / kBlock of one.
constexpr size_t kBlock = 10, kLate = 2;
constexpr size_t kGain = 32;  // smaller blocks must be faster by one part of so many
}  // namespace

// From the largest blocks down: each panel of weights is read once for a block, and each start of a block
// costs time.
ProductBlocks product_blocks(size_t n, size_t panels, size_t threads, size_t tile_rows) {
  const size_t tasks = wanted_tasks(threads);
  const size_t most_rows = divide_up(n, kLinearRows),
               least_rows = std::max(most_rows, std::min(divide_up(tasks, panels), divide_up(n, kLeastRows)));
  ProductBlocks best{};
  size_t least = 0;
  for (size_t row_blocks = most_rows; row_blocks <= least_rows; ++row_blocks) {
    const size_t rows = divide_up(divide_up(n, row_blocks), tile_rows) * tile_rows;
    const size_t wanted = std::clamp(divide_up(tasks, row_blocks), divide_up(panels, kMostPanels), panels);
    for (size_t width = divide_up(panels, wanted); width > 0; --width) {
      const size_t blocks = divide_up(n, rows) * divide_up(panels, width);
      const size_t busiest = (kBlock * divide_up(blocks, threads) + kLate) * rows * width;
      if (best.rows != 0 && busiest + busiest / kGain > least) continue;
      best = {rows, width};
      least = busiest;
    }
  }
  return best;
}

}  // namespace carbon::cpu
