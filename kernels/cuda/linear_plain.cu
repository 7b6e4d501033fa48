// Matrix products in f32 arithmetic for all types of elements: for f32 activations, for devices without
// tensor cores for bf16, and for shapes that do not fit the layout of tensor cores.
//
// A block computes 64 x 64 outputs, and a thread 4 x 4 of them, with 16 columns of both factors in shared
// memory at a time. An output is one chain of fused multiply-adds over ascending k. If k is not a multiple of
// 16, zeros follow at the end of the chain, in all products of the shape.
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace linear_plain_file {

constexpr int kTile = 64, kDepth = 16, kThreads = 256, kEach = 4;
// A tile is stored by columns, so that the factors for the outputs of a thread are contiguous. One more
// element per column puts the writes of a row into different banks.
constexpr int kStride = kTile + 4;

/// tile[d][r] = from[row0 + r, k0 + d], or zero outside the matrix.
template <class T>
__device__ void load_tile(float* tile, const T* from, size_t rows, size_t k, size_t row0, size_t k0) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kDepth; i += kThreads) {
    const int d = i % kDepth, r = i / kDepth;
    const size_t row = row0 + r, column = k0 + d;
    tile[d * kStride + r] = row < rows && column < k ? widen(from[row * k + column]) : 0.0f;
  }
}

template <class Act, class Weight>
__global__ void __launch_bounds__(kThreads)
    linear_kernel(const Act* act, const Weight* weight, const float* scales, size_t n, size_t outputs,
                  size_t k, float* out, size_t ld_out, uint32_t add) {
  begin_kernel();
  float* const a = reinterpret_cast<float*>(shared_memory());  // [kDepth][kStride]
  float* const w = a + kDepth * kStride;
  const size_t row0 = size_t{blockIdx.y} * kTile, column0 = size_t{blockIdx.x} * kTile;
  const int r0 = static_cast<int>(threadIdx.x) / 16 * kEach, c0 = static_cast<int>(threadIdx.x) % 16 * kEach;
  float sum[kEach][kEach] = {};
  for (size_t k0 = 0; k0 < k; k0 += kDepth) {
    load_tile(a, act, n, k, row0, k0);
    load_tile(w, weight, outputs, k, column0, k0);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j)
          sum[i][j] = fmaf(a[d * kStride + r0 + i], w[d * kStride + c0 + j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      if (row0 + r0 + i < n && column0 + c0 + j < outputs) {
        float* const to = out + (row0 + r0 + i) * ld_out + column0 + c0 + j;
        const float total = scaled<Act>(sum[i][j], scales, column0 + c0 + j);
        *to = add != 0 ? *to + total : total;
      }
}

template <class Act, class Weight>
void run_typed(Stream& stream, const LinearCall& c) {
  launch(linear_kernel<Act, Weight>, dim3(blocks(c.outputs, kTile), blocks(c.n, kTile)), kThreads,
         2 * kDepth * kStride * sizeof(float), stream, static_cast<const Act*>(c.act),
         static_cast<const Weight*>(c.weight), c.scales, c.n, c.outputs, c.k, c.out, c.ld_out,
         c.add ? 1u : 0u);
}

template <class Act>
void run_act(Stream& stream, const LinearCall& call, WeightType weight_type) {
  if (weight_type == WeightType::f32)
    run_typed<Act, float>(stream, call);
  else if (weight_type == WeightType::bf16)
    run_typed<Act, Bf16>(stream, call);
  else
    run_typed<Act, F16>(stream, call);
}

}  // namespace linear_plain_file

void run_linear_plain(Stream& stream, const LinearCall& call, DType act_type, WeightType weight_type) {
  // The second dimension of a grid has at most 65,535 blocks.
  constexpr size_t kMaxRows = size_t{65535} * kTile;
  LinearCall part = call;
  for (size_t row = 0; row < call.n; row += kMaxRows) {
    part.n = call.n - row < kMaxRows ? call.n - row : kMaxRows;
    part.act = static_cast<const char*>(call.act) + row * call.k * dtype_size(act_type);
    part.out = call.out + row * call.ld_out;
    if (act_type == DType::f32)
      run_act<float>(stream, part, weight_type);
    else if (act_type == DType::f16)
      run_typed<F16, F16>(stream, part);
    else
      run_typed<Bf16, Bf16>(stream, part);
  }
}

}  // namespace carbon::cuda
