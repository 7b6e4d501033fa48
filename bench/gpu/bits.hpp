// Which additions the tensor cores make: the results of mma.sync, wgmma and the library's products, compared
// to the bit with one another and with the models of chain_model.hpp. It decides whether a kernel with wgmma
// keeps the scores of one with mma.sync, and whether products of the library could be those of the decode
// class.
#pragma once

#include <memory>
#include <span>

#include "bench/gpu/tiles.hpp"
#include "kernels/cuda/device.hpp"

namespace carbon::gpu_bench {

/// Prints a table of small products of numbers that tell additions apart, one of the products given, with
/// `rows` rows, by the library, what follows, and the time of a barrier of all blocks. False if a result is
/// wrong, which is a fault of the program.
bool print_bits(const std::shared_ptr<const cuda::Device>& device, std::span<const TileProduct> products,
                size_t rows);

}  // namespace carbon::gpu_bench
