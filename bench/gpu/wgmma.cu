// Chains of wgmma (chains.hpp): a step at a time, each waited for, for comparing bits and not for speed.
#include "bench/gpu/chains.hpp"
#include "kernels/cuda/instructions.cuh"
// After the instructions that both kinds of devices have.
#include "bench/gpu/wgmma.cuh"

namespace carbon::gpu_bench {
inline namespace wgmma_file {

constexpr int kThreads = 128, kDepth = 16, kRows = 64;
constexpr int kMatrix = 128, kLine = 16;  // bytes of a matrix of eight rows and columns, and of a row of it

/// Copies 16 columns of `Rows` rows to shared memory: first the matrices of the first eight columns.
template <int Rows>
__device__ void load_factor(unsigned char* to, const uint16_t* from, size_t k) {
  const int i = static_cast<int>(threadIdx.x), row = i / 2, half = i % 2;
  if (row < Rows)
    cuda::copy_async(to + (half * (Rows / 8) + row / 8) * kMatrix + row % 8 * kLine,
                     from + row * k + half * 8, true);
}
template <int Rows>
__device__ uint64_t factor(const unsigned char* shared) {
  return describe_factor(shared, Rows / 8 * kMatrix, kMatrix);
}

/// A block has four warps, for 64 rows and `Outputs` outputs.
template <int Outputs, bool Registers>
__global__ void __launch_bounds__(kThreads)
    wgmma_chain(const uint16_t* act, const uint16_t* weight, size_t outputs, size_t k, float* out) {
  cuda::begin_kernel();
  unsigned char* const left = cuda::shared_memory();
  unsigned char* const right = left + kRows * kDepth * 2;
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarp;
  const size_t line = threadIdx.x / cuda::kWarp * 16 + lane / 4, column = lane % 4 * 2;
  const size_t row0 = size_t{blockIdx.y} * kRows, output0 = size_t{blockIdx.x} * Outputs;
  const uint16_t* const low = act + (row0 + line) * k + column;
  const auto pair = [](const uint16_t* at) { return *reinterpret_cast<const uint32_t*>(at); };
  float sum[Outputs / 8][4] = {};
  for (size_t at = 0; at < k; at += kDepth) {
    __syncthreads();
    if (!Registers) load_factor<kRows>(left, act + row0 * k + at, k);
    load_factor<Outputs>(right, weight + output0 * k + at, k);
    cuda::copy_async_commit();
    cuda::copy_async_wait<0>();
    show_to_wgmma();
    __syncthreads();
    const uint64_t outputs_there = factor<Outputs>(right);
    if constexpr (Registers) {
      const uint32_t rows[4] = {pair(low + at), pair(low + 8 * k + at), pair(low + at + 8),
                                pair(low + 8 * k + at + 8)};
      begin_wgmma();
      wgmma_64(sum, rows, outputs_there);
    } else {
      begin_wgmma();
      if constexpr (Outputs == 8)
        wgmma(sum, factor<kRows>(left), outputs_there);
      else
        wgmma_64(sum, factor<kRows>(left), outputs_there);
    }
    end_wgmma();
  }
  for (int j = 0; j < Outputs / 8; ++j)
    for (int e = 0; e < 4; ++e)
      out[(row0 + line + e / 2 * 8) * outputs + output0 + j * 8 + column + e % 2] = sum[j][e];
}

template <int Outputs, bool Registers>
void run(cuda::Stream& stream, const ChainCall& c) {
  constexpr size_t kShared = size_t{kRows + Outputs} * kDepth * 2;
  cuda::launch(wgmma_chain<Outputs, Registers>,
               dim3(cuda::blocks(c.outputs, Outputs), cuda::blocks(c.n, kRows)), kThreads, kShared, stream,
               static_cast<const uint16_t*>(c.act), static_cast<const uint16_t*>(c.weight), c.outputs, c.k,
               c.out);
}

}  // namespace wgmma_file

void run_wgmma_chain(cuda::Stream& stream, const ChainCall& call, WgmmaForm form) {
  if (form == WgmmaForm::n8)
    run<8, false>(stream, call);
  else if (form == WgmmaForm::n64)
    run<64, false>(stream, call);
  else
    run<64, true>(stream, call);
}

}  // namespace carbon::gpu_bench
