// How bf16 and f16 products on tensor cores are divided: the order of their sums, which the shape of the
// weight fixes, and the tiles, which do not change the results and may depend on the number of rows and on
// the device.
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

/// The tiles of linear_stream.cu, for few rows. A stage is one step of all slices. Most sizes have several
/// rings: small ones, of which a multiprocessor has room for several blocks, and large ones, for weights with
/// too few outputs to give every multiprocessor more than one block.
inline constexpr MmaTile kStreamTiles[] = {
    {8, 8, 16},   {8, 16, 8},  {8, 16, 16}, {8, 32, 5},   {8, 32, 8},   {16, 16, 6}, {16, 16, 12},
    {16, 16, 16}, {16, 32, 4}, {16, 32, 8}, {16, 32, 13}, {32, 16, 13}, {32, 32, 6}, {32, 32, 10},
    {32, 64, 3},  {32, 64, 4}, {32, 64, 6}, {64, 64, 3},  {64, 64, 5}};
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

/// n rows by a weight of `outputs` x k.
struct MmaProduct {
  size_t n = 0, outputs = 0, k = 0;
  bool operator==(const MmaProduct&) const = default;
};

/// What the estimate of a product's time is made of, in microseconds. Fitted to the times of all tiles for
/// all products of the published models on an H200 (bench_gpu --tiles; bench/results/gpu.md), so that the
/// tiles with the least estimates lose as little as possible.
struct MmaCosts {
  double wave;     // that all blocks for which there is room at a time begin and end
  double cache;    // of a KiB that the blocks of the busiest multiprocessor read
  double product;  // of an instruction of the tensor cores in each of its schedulers
  double wait;     // for what a full ring has requested
  double step;     // of a step of a block
};
inline constexpr MmaCosts kMmaCosts{2.444, 0.01608, 0.008893, 1.939, 0.1096};

/// An estimate of the time of a product with `tile`: the beginnings and ends of blocks, and in between what
/// takes longest. It leaves out what all tiles have, and serves only to compare them.
constexpr double mma_tile_cost(const MmaTile& tile, const MmaProduct& product, const MmaDevice& device) {
  constexpr double kKiB = 1024;
  const auto divide_up = [](size_t a, size_t b) { return (a + b - 1) / b; };
  const bool large = tile == kLargeTile;
  const size_t blocks = divide_up(product.n, tile.rows) * divide_up(product.outputs, tile.outputs);
  const size_t busiest = divide_up(blocks, device.multiprocessors);
  // The registers of a block of the largest tiles leave room for one, or two.
  const size_t room =
      large ? 1 : std::max<size_t>(1, (device.shared + 1024) / (stream_shared_bytes(tile) + 1024));
  const size_t together = tile.rows * tile.outputs >= 64 * 64 ? std::min<size_t>(room, 2) : room;
  const auto waves = static_cast<double>(divide_up(blocks, device.multiprocessors * together));
  // The large tile takes the slices one after the other, the others take them at the same time.
  const size_t slices = large ? 1 : kMmaSlices;
  const auto steps = static_cast<double>(mma_slice(product.k) * kMmaSlices / slices);
  const auto turns = static_cast<double>(busiest) * steps;
  const auto bytes =
      static_cast<double>(slices * (std::min(product.n, tile.rows) + tile.outputs) * kMmaDepth * 2);
  const auto products =
      static_cast<double>(divide_up(tile.rows, 16) * tile.outputs / 8 * 2 / (large ? 4 : 1));
  const MmaCosts& c = kMmaCosts;
  return c.wave * waves +
         std::max({c.cache * turns * bytes / kKiB, c.product * turns * products,
                   c.wait * waves * steps / static_cast<double>(tile.stages - 1), c.step * turns});
}

/// True for a streaming tile that n rows may take: it fits the device, has at least `least_outputs`, and less
/// than twice as many rows as there are.
constexpr bool may_take(const MmaTile& tile, size_t n, const MmaDevice& device, size_t least_outputs) {
  return (tile.rows == 8 || tile.rows < 2 * n) && tile.outputs >= least_outputs &&
         stream_shared_bytes(tile) <= device.shared;
}

/// The tile with the lowest estimated time. The candidates are the streaming tiles that the rows may take,
/// and the large tile if no streaming tile takes all rows at once. Of equal ones the first is chosen.
constexpr MmaTile choose_mma_tile(const MmaProduct& product, const MmaDevice& device,
                                  size_t least_outputs = 0) {
  MmaTile best;
  double least = 0;
  const auto consider = [&](const MmaTile& tile) {
    const double cost = mma_tile_cost(tile, product, device);
    if (best.rows != 0 && cost >= least) return;
    best = tile;
    least = cost;
  };
  for (const MmaTile& tile : kStreamTiles)
    if (may_take(tile, product.n, device, least_outputs)) consider(tile);
  if (product.n > kStreamRows) consider(kLargeTile);
  return best;
}

/// choose_mma_tile() for one device. Remembers its answers, because all layers of a step ask for the same.
class MmaTiles {
 public:
  explicit MmaTiles(const MmaDevice& device) : device_(device) {}
  const MmaDevice& device() const { return device_; }
  MmaTile choose(const MmaProduct& product, size_t least_outputs = 0) {
    Choice& choice =
        last_[(product.outputs / 64 + product.k / 64 + 5 * product.n + least_outputs) % last_.size()];
    if (choice.product != product || choice.least_outputs != least_outputs)
      choice = {product, least_outputs, choose_mma_tile(product, device_, least_outputs)};
    return choice.tile;
  }

 private:
  struct Choice {
    MmaProduct product;
    size_t least_outputs = 0;
    MmaTile tile;
  };
  MmaDevice device_;
  std::array<Choice, 64> last_;
};

}  // namespace carbon::cuda
