// Kernels over single rows: embedding, conversion, RMSNorm, SwiGLU, row selection.
//
// The time of all is that of reading and writing memory. They use one block per row, with consecutive threads
// for consecutive groups of elements. If the width is a multiple of four, a group has four elements, which
// one instruction reads, or eight of bf16; otherwise it has one element. So only the width decides the order
// of sums of a row.
#include <algorithm>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace rows_file {

constexpr int kThreads = 256;
constexpr int kWide = 4;        // elements of a group, if the width is a multiple of it
constexpr int kNormGroups = 4;  // that a thread of norm keeps in registers

template <class T, int Count>
__global__ void gather_kernel(const T* table, const uint32_t* slots, size_t width, float* x) {
  begin_kernel();
  const T* const from = table + slots[blockIdx.x] * width;
  float* const to = x + blockIdx.x * width;
  for (size_t i = threadIdx.x * Count; i < width; i += kThreads * Count) {
    const Group<T, Count> group = load_group<Count>(from + i);
    Group<float, Count> wide;
#pragma unroll
    for (int e = 0; e < Count; ++e) wide.element[e] = widen(group.element[e]);
    store_group(wide, to + i);
  }
}

template <class T, class To>
__global__ void convert_kernel(const T* from, size_t n, float factor, To* to) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
    narrow(factor * widen(from[i]), to + i);
}

/// The part of a row of the residual stream that a thread of norm has: every Threads-th group. The first
/// groups stay in registers between the two passes, which are all for rows of up to 4,096 elements; others
/// are read again.
template <int Threads, int Count>
class RowGroups {
  using Four = Group<float, Count>;

 public:
  __device__ RowGroups(const float* x, const float* weight, size_t width)
      : x_(x), weight_(weight), width_(width) {
#pragma unroll
    for (int k = 0; k < kNormGroups; ++k)
      if (at(k) < width_) weights_[k] = load_group<Count>(weight_ + at(k));
  }

  /// A chain of multiply-adds.
  __device__ float sum_of_squares() {
#pragma unroll
    for (int k = 0; k < kNormGroups; ++k)
      if (at(k) < width_) kept_[k] = load_group<Count>(x_ + at(k));
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kNormGroups; ++k)
      if (at(k) < width_) add_squares(kept_[k], squares);
    for (int k = kNormGroups; at(k) < width_; ++k) add_squares(load_group<Count>(x_ + at(k)), squares);
    return squares;
  }

  /// act = x * scale * weight.
  template <class Act>
  __device__ void scale_to(float scale, Act* act) const {
#pragma unroll
    for (int k = 0; k < kNormGroups; ++k)
      if (at(k) < width_) scale_group(kept_[k], scale, weights_[k], act + at(k));
    for (int k = kNormGroups; at(k) < width_; ++k)
      scale_group(load_group<Count>(x_ + at(k)), scale, load_group<Count>(weight_ + at(k)), act + at(k));
  }

 private:
  __device__ static size_t at(int k) {
    return (threadIdx.x + size_t{Threads} * k) * Count;
  }

  __device__ static void add_squares(const Four& x, float& squares) {
#pragma unroll
    for (int e = 0; e < Count; ++e) squares = fmaf(x.element[e], x.element[e], squares);
  }

  template <class Act>
  __device__ static void scale_group(const Four& x, float scale, const Four& weights, Act* act) {
    Group<Act, Count> result;
#pragma unroll
    for (int e = 0; e < Count; ++e) narrow(x.element[e] * scale * weights.element[e], &result.element[e]);
    store_group(result, act);
  }

  const float* x_;
  const float* weight_;
  size_t width_;
  Four kept_[kNormGroups], weights_[kNormGroups];
};

template <class Act, int Threads, int Count>
__global__ void __launch_bounds__(Threads)
    norm_kernel(const float* x, const float* weight, float eps, size_t width, Act* act) {
  start_next_kernel();
  float* const partial = reinterpret_cast<float*>(shared_memory());  // [warps]
  const size_t offset = blockIdx.x * width;
  // The weights are requested while the previous kernel still runs. They are only written before the first
  // forward pass, by copies and kernels that end before the first copy to the device of any forward pass.
  RowGroups<Threads, Count> row(x + offset, weight, width);
  wait_for_last_kernel();
  const float mean = block_sum<Threads>(row.sum_of_squares(), partial) / static_cast<float>(width);
  row.scale_to(1.0f / sqrtf(mean + eps), act + offset);
}

/// A block for each head of each row.
template <int Threads, int Count>
__global__ void __launch_bounds__(Threads)
    norm_heads_kernel(float* x, const float* weight, float eps, size_t heads, size_t width, size_t ld) {
  start_next_kernel();
  float* const partial = reinterpret_cast<float*>(shared_memory());  // [warps]
  float* const head = x + blockIdx.x / heads * ld + blockIdx.x % heads * width;
  RowGroups<Threads, Count> row(head, weight, width);  // as in norm_kernel
  wait_for_last_kernel();
  const float mean = block_sum<Threads>(row.sum_of_squares(), partial) / static_cast<float>(width);
  row.scale_to(1.0f / sqrtf(mean + eps), head);
}

template <class T, class Act, int Count>
__global__ void swiglu_kernel(const T* gate_up, size_t width, Act* act) {
  begin_kernel();
  const T* const gate = gate_up + blockIdx.x * 2 * width;
  for (size_t i = threadIdx.x * Count; i < width; i += kThreads * Count) {
    const Group<T, Count> g = load_group<Count>(gate + i), u = load_group<Count>(gate + width + i);
    Group<Act, Count> result;
#pragma unroll
    for (int e = 0; e < Count; ++e)
      narrow(swiglu(widen(g.element[e]), widen(u.element[e])), &result.element[e]);
    store_group(result, act + blockIdx.x * width + i);
  }
}

template <int Count>
__global__ void select_kernel(const float* x, const uint32_t* rows, size_t width, float* out) {
  begin_kernel();
  const float* const from = x + rows[blockIdx.x] * width;
  for (size_t i = threadIdx.x * Count; i < width; i += kThreads * Count)
    store_group(load_group<Count>(from + i), out + blockIdx.x * width + i);
}

template <class T>
void run_gather_of(Stream& stream, const void* table, const uint32_t* slots, size_t n, size_t width,
                   float* x) {
  const dim3 grid(static_cast<unsigned>(n));
  const auto* const from = static_cast<const T*>(table);
  if (width % kWide == 0)
    launch(gather_kernel<T, kWide>, grid, kThreads, 0, stream, from, slots, width, x);
  else
    launch(gather_kernel<T, 1>, grid, kThreads, 0, stream, from, slots, width, x);
}

template <class Act, int Threads>
void run_norm_by(Stream& stream, const float* x, const float* weight, float eps, size_t n, size_t width,
                 Act* act) {
  const dim3 grid(static_cast<unsigned>(n));
  constexpr size_t shared = Threads / kWarp * sizeof(float);
  if (width % kWide == 0)
    launch(norm_kernel<Act, Threads, kWide>, grid, Threads, shared, stream, x, weight, eps, width, act);
  else
    launch(norm_kernel<Act, Threads, 1>, grid, Threads, shared, stream, x, weight, eps, width, act);
}

// As few threads as can keep a row in registers, so that each has several groups to wait for at a time.
template <class Act>
void run_norm_to(Stream& stream, const float* x, const float* weight, float eps, size_t n, size_t width,
                 void* act) {
  auto* const to = static_cast<Act*>(act);
  constexpr size_t kEach = kNormGroups * kWide;
  if (width <= 64 * kEach)
    run_norm_by<Act, 64>(stream, x, weight, eps, n, width, to);
  else if (width <= 128 * kEach)
    run_norm_by<Act, 128>(stream, x, weight, eps, n, width, to);
  else
    run_norm_by<Act, 256>(stream, x, weight, eps, n, width, to);
}

constexpr int kHeadThreads = 64;

template <int Count>
void run_norm_heads_by(Stream& stream, float* x, const float* weight, float eps, size_t n, size_t heads,
                       size_t head_dim, size_t ld) {
  constexpr size_t shared = kHeadThreads / kWarp * sizeof(float);
  launch(norm_heads_kernel<kHeadThreads, Count>, dim3(static_cast<unsigned>(n * heads)), kHeadThreads, shared,
         stream, x, weight, eps, heads, head_dim, ld);
}

template <class T, class Act>
void run_swiglu_of(Stream& stream, const void* gate_up, size_t n, size_t width, void* act) {
  const dim3 grid(static_cast<unsigned>(n));
  const auto* const from = static_cast<const T*>(gate_up);
  auto* const to = static_cast<Act*>(act);
  constexpr int kWidest = 16 / std::max(sizeof(T), sizeof(Act));
  if (kWidest > kWide && width % kWidest == 0)
    launch(swiglu_kernel<T, Act, kWidest>, grid, kThreads, 0, stream, from, width, to);
  else if (width % kWide == 0)
    launch(swiglu_kernel<T, Act, kWide>, grid, kThreads, 0, stream, from, width, to);
  else
    launch(swiglu_kernel<T, Act, 1>, grid, kThreads, 0, stream, from, width, to);
}

template <class To>
void convert_to(Stream& stream, const void* from, WeightType type, size_t n, float factor, To* to) {
  const dim3 grid(blocks(n, size_t{16} * kThreads));
  if (type == WeightType::f32)
    launch(convert_kernel<float, To>, grid, kThreads, 0, stream, static_cast<const float*>(from), n, factor,
           to);
  else if (type == WeightType::bf16)
    launch(convert_kernel<Bf16, To>, grid, kThreads, 0, stream, static_cast<const Bf16*>(from), n, factor,
           to);
  else
    launch(convert_kernel<F16, To>, grid, kThreads, 0, stream, static_cast<const F16*>(from), n, factor, to);
}

}  // namespace rows_file

void run_gather(Stream& stream, const void* table, WeightType type, const uint32_t* slots, size_t n,
                size_t width, float* x) {
  if (type == WeightType::f32)
    run_gather_of<float>(stream, table, slots, n, width, x);
  else if (type == WeightType::bf16)
    run_gather_of<Bf16>(stream, table, slots, n, width, x);
  else
    run_gather_of<F16>(stream, table, slots, n, width, x);
}

void run_convert(Stream& stream, const void* from, WeightType type, size_t n, void* to, WeightType to_type,
                 float factor) {
  if (to_type == WeightType::bf16)
    convert_to(stream, from, type, n, factor, static_cast<Bf16*>(to));
  else if (to_type == WeightType::f16)
    convert_to(stream, from, type, n, factor, static_cast<F16*>(to));
  else
    convert_to(stream, from, type, n, factor, static_cast<float*>(to));
}

void run_norm(Stream& stream, const float* x, const float* weight, float eps, size_t n, size_t width,
              void* act, DType act_type) {
  if (act_type == DType::bf16)
    run_norm_to<Bf16>(stream, x, weight, eps, n, width, act);
  else if (act_type == DType::f16)
    run_norm_to<F16>(stream, x, weight, eps, n, width, act);
  else
    run_norm_to<float>(stream, x, weight, eps, n, width, act);
}

void run_norm_heads(Stream& stream, float* x, const float* weight, float eps, size_t n, size_t heads,
                    size_t head_dim, size_t ld) {
  if (head_dim % kWide == 0)
    run_norm_heads_by<kWide>(stream, x, weight, eps, n, heads, head_dim, ld);
  else
    run_norm_heads_by<1>(stream, x, weight, eps, n, heads, head_dim, ld);
}

void run_swiglu(Stream& stream, const void* gate_up, DType type, size_t n, size_t width, void* act,
                DType act_type) {
  if (type == DType::bf16)
    run_swiglu_of<Bf16, Bf16>(stream, gate_up, n, width, act);
  else if (act_type == DType::bf16)
    run_swiglu_of<float, Bf16>(stream, gate_up, n, width, act);
  else if (act_type == DType::f16)
    run_swiglu_of<float, F16>(stream, gate_up, n, width, act);
  else
    run_swiglu_of<float, float>(stream, gate_up, n, width, act);
}

void run_select_rows(Stream& stream, const float* x, const uint32_t* rows, size_t n, size_t width,
                     float* out) {
  const dim3 grid(static_cast<unsigned>(n));
  if (width % kWide == 0)
    launch(select_kernel<kWide>, grid, kThreads, 0, stream, x, rows, width, out);
  else
    launch(select_kernel<1>, grid, kThreads, 0, stream, x, rows, width, out);
}

}  // namespace carbon::cuda
