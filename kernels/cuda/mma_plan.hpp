// How bf16 products on tensor cores are divided: the order of their sums, which the shape of the weight
// fixes, and the tiles, which do not change the results and may depend on the number of rows and on the
// device.
//
// This is host code without CUDA, so that unit tests can check it; linear_mma.cu and linear_stream.cu
// implement it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace carbon::cuda {

/// The largest number of rows in a pass of the decoder: 64 per multiprocessor, rounded to steps of 256. For
/// many rows the library uses tiles of 128 rows and 256 outputs. With a matrix whose outputs are a multiple
/// of 512, these keep all multiprocessors busy to the end, or leave some idle only for a small part of the
/// time.
constexpr size_t pass_rows(size_t multiprocessors) {
  return std::max<size_t>(64 * multiprocessors / 256 * 256, 2048);
}

// The sum over k is divided into steps of kMmaDepth columns, and the steps into slices of equal numbers of
// steps; the last slices may have fewer steps or none. A slice is one chain of tensor-core products over
// ascending steps, from zero, and the slices are added in ascending order.
inline constexpr size_t kMmaDepth = 32, kMmaSlices = 4;
constexpr size_t mma_steps(size_t k) {
  return (k + kMmaDepth - 1) / kMmaDepth;
}
/// The number of steps in a slice.
constexpr size_t mma_slice(size_t k) {
  return (mma_steps(k) + kMmaSlices - 1) / kMmaSlices;
}

/// The rows of activations and outputs of the weight that a block computes, and the number of stages of its
/// ring buffer in shared memory.
struct MmaTile {
  size_t rows = 0, outputs = 0, stages = 0;
  bool operator==(const MmaTile&) const = default;
};

/// The tiles of linear_stream.cu, for few rows. A stage is one step of all slices. Most sizes have two tiles.
/// One has a ring of up to 96 KiB, which every device with bf16 tensor cores has for a block. The other has
/// up to 160 KiB, for devices that have so much, and for weights with too few outputs to give every
/// multiprocessor two blocks.
inline constexpr MmaTile kStreamTiles[] = {
    {8, 8, 16},  {8, 16, 16},  {16, 8, 16}, {16, 16, 12}, {16, 16, 16}, {16, 32, 8}, {16, 32, 13},
    {32, 16, 8}, {32, 16, 13}, {32, 32, 6}, {32, 32, 10}, {32, 64, 4},  {32, 64, 6}, {64, 16, 4},
    {64, 16, 8}, {64, 32, 4},  {64, 32, 6}, {64, 64, 3},  {64, 64, 5}};
inline constexpr size_t kStreamRows = 64;  // rows of the largest of them
constexpr size_t stream_stage_bytes(const MmaTile& tile) {
  return kMmaSlices * (tile.rows + tile.outputs) * kMmaDepth * 2;
}
constexpr size_t stream_shared_bytes(const MmaTile& tile) {
  return tile.stages * stream_stage_bytes(tile);
}
/// The tile of linear_mma.cu, for many rows. A stage is one step; the slices follow one another.
inline constexpr MmaTile kLargeTile{128, 128, 4};

/// What the choice of a tile needs to know about a device.
struct MmaDevice {
  size_t multiprocessors = 1;
  size_t shared = 0;  // bytes of shared memory for a block; a multiprocessor has 1 KiB more
};

/// An estimate of the time of a product of n rows with `tile`, in clocks per column of k. It is the largest
/// of the times for reading the weights from memory, for the reads of all blocks from the L2 cache, for the
/// reads and the multiply-adds of the busiest multiprocessor, and for waiting, given how many bytes the rings
/// can request at a time. The constants are round numbers near those of an H100 (data sheet; a latency of 1
/// us under load). They are not measured, and serve only to compare tiles.
constexpr double mma_tile_cost(const MmaTile& tile, size_t n, size_t outputs, const MmaDevice& device) {
  // Rates of a multiprocessor per clock, and a latency in clocks.
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

/// The tile for n rows with the lowest estimated time. The candidates are the streaming tiles with the fewest
/// rows that are enough, if they have at least `least_outputs` and fit the device, and the large tile if the
/// streaming tiles cannot take all rows at once. Of equal ones the first is chosen, which has the fewest
/// outputs and so keeps the most multiprocessors reading.
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

/// choose_mma_tile() for one device. Remembers its answers, because all layers of a step ask for the same.
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
