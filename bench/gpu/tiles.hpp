// The times of the tiles of the own products, from which the constants of mma_tile_cost() come
// (kernels/cuda/mma_plan.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "bench/gpu/limits.hpp"
#include "kernels/cuda/device.hpp"

namespace carbon::gpu_bench {

/// A product of a model: outputs of each weight, and columns. With SwiGLU there are two weights.
struct TileProduct {
  size_t outputs, k;
  bool swiglu;
};

/// Prints a line for each product, number of rows and tile that could serve: microseconds of a product whose
/// weights are not in the cache of the device, and what mma_tile_cost() says of it. The tile that
/// choose_mma_tile() takes has a star.
void print_tiles(const std::shared_ptr<const cuda::Device>& device, std::span<const TileProduct> products,
                 std::span<const size_t> rows, const Effort& effort);

}  // namespace carbon::gpu_bench
