// Kernels over single rows: embedding, conversion, residual with RMSNorm, SwiGLU, row selection.
//
// All are bound by memory: a block a row, consecutive threads on consecutive elements.
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void gather_kernel(const T* table, const uint32_t* slots, size_t width, float* x) {
  begin_kernel();
  const T* const from = table + slots[blockIdx.x] * width;
  float* const to = x + blockIdx.x * width;
  for (size_t i = threadIdx.x; i < width; i += kThreads) to[i] = widen(from[i]);
}

template <class T>
__global__ void to_bf16_kernel(const T* from, size_t n, Bf16* to) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
    narrow(widen(from[i]), to + i);
}

// The sum of squares: a chain of multiply-adds a thread over every kThreads-th element, then block_sum.
template <class Act>
__global__ void __launch_bounds__(kThreads)
    add_norm_kernel(float* x, const float* delta, const float* weight, float eps, size_t width, Act* act) {
  begin_kernel();
  float* const partial = reinterpret_cast<float*>(shared_memory());  // [warps]
  const size_t offset = blockIdx.x * width;
  float squares = 0.0f;
  for (size_t i = threadIdx.x; i < width; i += kThreads) {
    float v = x[offset + i];
    if (delta != nullptr) x[offset + i] = v = v + delta[offset + i];
    squares = fmaf(v, v, squares);
  }
  const float mean = block_sum<kThreads>(squares, partial) / static_cast<float>(width);
  const float scale = 1.0f / sqrtf(mean + eps);
  // A thread reads again only what it has written itself.
  for (size_t i = threadIdx.x; i < width; i += kThreads)
    narrow(x[offset + i] * scale * weight[i], act + offset + i);
}

template <class Act>
__global__ void swiglu_kernel(const float* gate_up, size_t width, Act* act) {
  begin_kernel();
  const float* const gate = gate_up + blockIdx.x * 2 * width;
  for (size_t i = threadIdx.x; i < width; i += kThreads)
    narrow(swiglu(gate[i], gate[width + i]), act + blockIdx.x * width + i);
}

__global__ void select_kernel(const float* x, const uint32_t* rows, size_t width, float* out) {
  begin_kernel();
  const float* const from = x + rows[blockIdx.x] * width;
  for (size_t i = threadIdx.x; i < width; i += kThreads) out[blockIdx.x * width + i] = from[i];
}

}  // namespace

void run_gather(Stream& stream, const void* table, DType type, const uint32_t* slots, size_t n, size_t width,
                float* x) {
  const dim3 grid(static_cast<unsigned>(n));
  if (type == DType::f32)
    launch(gather_kernel<float>, grid, kThreads, 0, stream, static_cast<const float*>(table), slots, width,
           x);
  else if (type == DType::bf16)
    launch(gather_kernel<Bf16>, grid, kThreads, 0, stream, static_cast<const Bf16*>(table), slots, width, x);
  else
    launch(gather_kernel<F16>, grid, kThreads, 0, stream, static_cast<const F16*>(table), slots, width, x);
}

void run_to_bf16(Stream& stream, const void* from, DType type, size_t n, void* to) {
  const dim3 grid(blocks(n, size_t{16} * kThreads));
  auto* const out = static_cast<Bf16*>(to);
  if (type == DType::f32)
    launch(to_bf16_kernel<float>, grid, kThreads, 0, stream, static_cast<const float*>(from), n, out);
  else
    launch(to_bf16_kernel<F16>, grid, kThreads, 0, stream, static_cast<const F16*>(from), n, out);
}

void run_add_norm(Stream& stream, float* x, const float* delta, const float* weight, float eps, size_t n,
                  size_t width, void* act, DType act_type) {
  const dim3 grid(static_cast<unsigned>(n));
  constexpr size_t shared = kThreads / kWarp * sizeof(float);
  if (act_type == DType::bf16)
    launch(add_norm_kernel<Bf16>, grid, kThreads, shared, stream, x, delta, weight, eps, width,
           static_cast<Bf16*>(act));
  else
    launch(add_norm_kernel<float>, grid, kThreads, shared, stream, x, delta, weight, eps, width,
           static_cast<float*>(act));
}

void run_swiglu(Stream& stream, const float* gate_up, size_t n, size_t width, void* act, DType act_type) {
  const dim3 grid(static_cast<unsigned>(n));
  if (act_type == DType::bf16)
    launch(swiglu_kernel<Bf16>, grid, kThreads, 0, stream, gate_up, width, static_cast<Bf16*>(act));
  else
    launch(swiglu_kernel<float>, grid, kThreads, 0, stream, gate_up, width, static_cast<float*>(act));
}

void run_select_rows(Stream& stream, const float* x, const uint32_t* rows, size_t n, size_t width,
                     float* out) {
  launch(select_kernel, dim3(static_cast<unsigned>(n)), kThreads, 0, stream, x, rows, width, out);
}

}  // namespace carbon::cuda
