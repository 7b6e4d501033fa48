// Products whose order of sums is known, by the instructions that could compute scores (bits.hpp), and a
// barrier.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.hpp"

namespace carbon::gpu_bench {

/// out [n, outputs] = act [n, k] times weight [outputs, k] transposed; bf16, summed in f32. n is a multiple
/// of 64, outputs of 64 and k of 16.
struct ChainCall {
  const void* act;
  const void* weight;
  size_t n, outputs, k;
  float* out;
};

/// Steps of 16 columns belong to `parts` chains in turn, `group` of them at a time. A chain adds its steps in
/// ascending order, from zero; then the chains are added in ascending order.
struct ChainOrder {
  int parts, group;
};

/// By mma.sync, chains.cu. Needs sm_80.
void run_mma_chain(cuda::Stream& stream, const ChainCall& call, const ChainOrder& order);

/// By wgmma, wgmma.cu, in one chain. Needs sm_90 and no later one.
enum class WgmmaForm {
  n8,            // 64 rows by 8 outputs
  n64,           // 64 by 64
  n64_registers  // the same, with the rows in registers
};
void run_wgmma_chain(cuda::Stream& stream, const ChainCall& call, WgmmaForm form);

inline constexpr unsigned kBarrierThreads = 288;
/// Microseconds of a barrier of all blocks of a grid, on which a step of generation in one launch would rest,
/// barrier.cu; negative where a grid cannot have one. `counter` is in device memory.
float barrier_microseconds(cudaStream_t stream, unsigned blocks, uint32_t* counter);

}  // namespace carbon::gpu_bench
