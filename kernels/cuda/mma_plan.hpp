// How the bf16 products on tensor cores are cut: the order of their sums, which the weight's shape fixes, and
// tiles, which change no bit and may therefore follow the number of rows and the device.
//
// Of the host and without CUDA, so that unit tests see it; linear_mma.cu and linear_stream.cu run it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace carbon::cuda {

/// Rows that a pass of the decoder has at most: 64 a multiprocessor, in steps of 256. Tiles of 128 rows and
/// 256 outputs, a library's for many rows, then go round all multiprocessors without a rest for a matrix
/// whose outputs are a multiple of 512; where steps leave one, it is a small part of several rounds.
constexpr size_t pass_rows(size_t multiprocessors) {
  return std::max<size_t>(64 * multiprocessors / 256 * 256, 2048);
}

// The sum over k: steps of kMmaDepth columns; slices of as many whole steps, of which the last ones may have
// fewer or none. A slice is one chain of tensor-core products over ascending steps, from zero, and slices are
// added in ascending order.
inline constexpr size_t kMmaDepth = 32, kMmaSlices = 4;
constexpr size_t mma_steps(size_t k) {
  return (k + kMmaDepth - 1) / kMmaDepth;
}
/// Steps of a slice.
constexpr size_t mma_slice(size_t k) {
  return (mma_steps(k) + kMmaSlices - 1) / kMmaSlices;
}

/// Rows of activations and outputs of the weight that a block computes, and the stages of its ring in shared
/// memory.
struct MmaTile {
  size_t rows = 0, outputs = 0, stages = 0;
  bool operator==(const MmaTile&) const = default;
};

/// Of linear_stream.cu, for few rows. A stage is a step of all slices. Twice for most sizes: with a ring of
/// up to 96 KiB, which every device with bf16 tensor cores has for a block, and of up to 160 KiB, for those
/// that have it, where a weight has too few outputs to give every multiprocessor two blocks.
inline constexpr MmaTile kStreamTiles[] = {
    {8, 8, 16},  {8, 16, 16},  {16, 8, 16}, {16, 16, 12}, {16, 16, 16}, {16, 32, 8}, {16, 32, 13},
    {32, 16, 8}, {32, 16, 13}, {32, 32, 6}, {32, 32, 10}, {32, 64, 4},  {32, 64, 6}, {64, 16, 4},
    {64, 16, 8}, {64, 32, 4},  {64, 32, 6}, {64, 64, 3},  {64, 64, 5}};
inline constexpr size_t kStreamRows = 64;  // of the tallest
constexpr size_t stream_stage_bytes(const MmaTile& tile) {
  return kMmaSlices * (tile.rows + tile.outputs) * kMmaDepth * 2;
}
constexpr size_t stream_shared_bytes(const MmaTile& tile) {
  return tile.stages * stream_stage_bytes(tile);
}
/// Of linear_mma.cu, for many. A stage is a step, of one slice after the other.
inline constexpr MmaTile kLargeTile{128, 128, 4};

/// What the choice needs to know of a device.
struct MmaDevice {
  size_t multiprocessors = 1;
  size_t shared = 0;  // bytes of shared memory that a block may have; a multiprocessor has 1 KiB more
};

/// The time that a product of n rows takes in `tile`s, in clocks for each column of k: the longest of reading
/// the weights from memory, all blocks' reads from the L2 cache, the busiest multiprocessor's reads and
/// multiply-adds, and waiting for what the rings can have under way. The constants are round numbers near an
/// H100's (data sheet; 1 us from asking to getting under load). They are not measured, and only weigh one
/// tile against another.
constexpr double mma_tile_cost(const MmaTile& tile, size_t n, size_t outputs, const MmaDevice& device) {
  // Of a multiprocessor in a clock, and clocks.
  constexpr double kMemoryBytes = 13, kCacheBytes = 32, kPortBytes = 64, kMultiplyAdds = 1024;
  constexpr double kLatency = 1700;
  const auto divide_up = [](size_t a, size_t b) { return (a + b - 1) / b; };
  const size_t blocks = divide_up(n, tile.rows) * divide_up(outputs, tile.outputs);
  const auto all = static_cast<double>(blocks), processors = static_cast<double>(device.multiprocessors);
  const auto busiest = static_cast<double>(divide_up(blocks, device.multiprocessors));
  const auto bytes = 2 * static_cast<double>(std::min(n, tile.rows) + tile.outputs);  // of a block
  const bool large = tile == kLargeTile;
  const size_t together =
      large ? 1 : std::max<size_t>(1, (device.shared + 1024) / (stream_shared_bytes(tile) + 1024));
  const auto waves = static_cast<double>(divide_up(blocks, device.multiprocessors * together));
  const auto under_way = static_cast<double>((tile.stages - 1) * kMmaDepth * (large ? 1 : kMmaSlices));
  return std::max({2 * static_cast<double>(outputs) / processors / kMemoryBytes,
                   all * bytes / processors / kCacheBytes, busiest * bytes / kPortBytes,
                   busiest * static_cast<double>(tile.rows * tile.outputs) / kMultiplyAdds,
                   waves * kLatency / under_way});
}

/// The tile for n rows: of the streaming ones that are just tall enough, have at least `least_outputs` and
/// fit the device, and the large one where those have to take the rows in parts, the cheapest; among equals
/// the first, which is the narrowest and keeps most multiprocessors reading.
constexpr MmaTile choose_mma_tile(size_t n, size_t outputs, const MmaDevice& device,
                                  size_t least_outputs = 0) {
  size_t rows = 8;
  while (rows < n && rows < kStreamRows) rows *= 2;
  MmaTile best;
  double least = 0;
  const auto consider = [&](const MmaTile& tile) {
    const double cost = mma_tile_cost(tile, n, outputs, device);
    if (best.rows != 0 && cost >= least) return;
    best = tile;
    least = cost;
  };
  for (const MmaTile& tile : kStreamTiles)
    if (tile.rows == rows && tile.outputs >= least_outputs && stream_shared_bytes(tile) <= device.shared)
      consider(tile);
  if (n > kStreamRows) consider(kLargeTile);
  return best;
}

/// choose_mma_tile() for one device, which remembers what every layer of a step asks again.
class MmaTiles {
 public:
  explicit MmaTiles(const MmaDevice& device) : device_(device) {}
  const MmaDevice& device() const { return device_; }
  MmaTile choose(size_t n, size_t outputs, size_t least_outputs = 0) {
    Choice& choice = last_[(outputs / 64 + 5 * n + least_outputs) % last_.size()];
    if (choice.n != n || choice.outputs != outputs || choice.least_outputs != least_outputs)
      choice = {n, outputs, least_outputs, choose_mma_tile(n, outputs, device_, least_outputs)};
    return choice.tile;
  }

 private:
  struct Choice {
    size_t n = 0, outputs = 0, least_outputs = 0;
    MmaTile tile;
  };
  MmaDevice device_;
  std::array<Choice, 64> last_;
};

}  // namespace carbon::cuda
