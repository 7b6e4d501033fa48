// Chains of mma.sync (chains.hpp), which read their numbers where they are: for comparing bits, not for
// speed.
#include "bench/gpu/chains.hpp"
#include "kernels/cuda/instructions.cuh"

namespace carbon::gpu_bench {
inline namespace chains_file {

constexpr int kDepth = 16, kRows = 16, kOutputs = 8;

/// A warp for 16 rows and 8 outputs.
__global__ void mma_chain(const uint16_t* act, const uint16_t* weight, size_t outputs, size_t k, int parts,
                          int group, float* out) {
  cuda::begin_kernel();
  const size_t line = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
  const size_t row0 = size_t{blockIdx.y} * kRows, output0 = size_t{blockIdx.x} * kOutputs;
  const uint16_t* const low = act + (row0 + line) * k + column;
  const uint16_t* const high = low + 8 * k;
  const uint16_t* const right = weight + (output0 + line) * k + column;
  const auto pair = [](const uint16_t* at) { return *reinterpret_cast<const uint32_t*>(at); };
  const int steps = static_cast<int>(k / kDepth);
  float total[4] = {};
  for (int part = 0; part < parts; ++part) {
    float sum[4] = {};
    for (int step = 0; step < steps; ++step) {
      if (step / group % parts != part) continue;
      const int at = step * kDepth;
      const uint32_t left[4] = {pair(low + at), pair(high + at), pair(low + at + 8), pair(high + at + 8)};
      cuda::mma_bf16(sum, left, pair(right + at), pair(right + at + 8));
    }
    for (int e = 0; e < 4; ++e) total[e] = part == 0 ? sum[e] : total[e] + sum[e];
  }
  for (size_t e = 0; e < 4; ++e)
    out[(row0 + line + e / 2 * 8) * outputs + output0 + column + e % 2] = total[e];
}

}  // namespace chains_file

void run_mma_chain(cuda::Stream& stream, const ChainCall& c, const ChainOrder& order) {
  cuda::launch(mma_chain, dim3(cuda::blocks(c.outputs, kOutputs), cuda::blocks(c.n, kRows)), cuda::kWarp, 0,
               stream, static_cast<const uint16_t*>(c.act), static_cast<const uint16_t*>(c.weight), c.outputs,
               c.k, order.parts, order.group, c.out);
}

}  // namespace carbon::gpu_bench
