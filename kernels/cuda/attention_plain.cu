// Writes rotated keys, and values, to the pages of the cache, for all kernels of attention; and attention,
// causal or not, in f32 arithmetic for any head size and all types of cache, with one block per row and
// query head.
//
// Keys are taken in tiles of 64 at absolute multiples of 64, with the running maximum and sum of an online
// softmax. A score is a chain of multiply-adds over ascending elements of the head, and an output element is
// a chain over ascending keys. A row never uses keys after the last one to which it attends.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace attention_plain_file {

constexpr int kThreads = 128, kWarps = kThreads / kWarp;
constexpr uint32_t kPage = 64;
constexpr int kDims = static_cast<int>(kMaxPlainHead) / kThreads;  // output elements of a thread

/// A thread writes `Count` elements j of a head, those with which they rotate, half a head later, and the
/// same of the value. Divisions are of 32 bits, which need far fewer instructions than those of 64 bits.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    append_kernel(const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                  const uint32_t* page_list, KvLayer kv, Rotary rotary) {
  start_next_kernel();
  // The tables were copied by the host, not written by a kernel, so they may be read before the wait.
  const uint32_t dim = static_cast<uint32_t>(kv.head_dim), half = dim / 2;
  const uint32_t units = static_cast<uint32_t>(kv.kv_heads) * half / Count;  // of a row
  const uint32_t item = blockIdx.x * kThreads + threadIdx.x;
  const bool valid = item / units < n;
  const RowPlace place = places[valid ? item / units : 0];
  const uint32_t unit = item % units, head = unit * Count / half, j = unit * Count % half;
  char* const page =
      static_cast<char*>(kv.pages[page_list[place.pages + place.position / kPage]]) + kv.offset;
  T* const keys = reinterpret_cast<T*>(page) + (size_t{head} * 2 * kPage + place.position % kPage) * dim + j;
  T* const values = keys + kPage * dim;
  const Group<float, Count> cos = load_group<Count>(rotary.cos + size_t{place.position} * half + j),
                            sin = load_group<Count>(rotary.sin + size_t{place.position} * half + j);
  wait_for_last_kernel();
  if (!valid) return;
  const size_t from = place.row * ld + size_t{head} * dim + j;
  const Group<float, Count> a = load_group<Count>(k + from), b = load_group<Count>(k + from + half),
                            low = load_group<Count>(v + from), high = load_group<Count>(v + from + half);
  Group<T, Count> to[4];
#pragma unroll
  for (int e = 0; e < Count; ++e) {
    narrow(a.element[e] * cos.element[e] - b.element[e] * sin.element[e], &to[0].element[e]);
    narrow(b.element[e] * cos.element[e] + a.element[e] * sin.element[e], &to[1].element[e]);
    narrow(low.element[e], &to[2].element[e]);
    narrow(high.element[e], &to[3].element[e]);
  }
  store_group(to[0], keys);
  store_group(to[1], keys + half);
  store_group(to[2], values);
  store_group(to[3], values + half);
}

template <class T>
void run_append_as(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places,
                   size_t n, const uint32_t* page_list, const KvLayer& kv, const Rotary& rotary) {
  constexpr int kWide = 4;
  const auto aligned = [](const float* p) {
    return reinterpret_cast<uintptr_t>(p) % (kWide * sizeof(float)) == 0;
  };
  const size_t half = kv.head_dim / 2;
  const bool wide = half % kWide == 0 && ld % kWide == 0 && aligned(k) && aligned(v);
  const size_t units = kv.kv_heads * half / (wide ? kWide : 1);
  const size_t most = std::max<size_t>(1, (size_t{1} << 31) / units);  // rows whose units 32 bits can count
  for (size_t first = 0; first < n; first += most) {
    const size_t rows = std::min(most, n - first);
    launch(wide ? append_kernel<T, kWide> : append_kernel<T, 1>, dim3(blocks(rows * units, kThreads)),
           kThreads, 0, stream, k, v, ld, places + first, rows, page_list, kv, rotary);
  }
}

/// query = the rotated head of the row, times `scale`.
__device__ void rotate_query(const AttentionCall& call, const RowPlace& place, size_t head, float scale,
                             float* query) {
  const size_t half = call.kv.head_dim / 2;
  const float* const x = call.q + place.row * call.ld + head * call.kv.head_dim;
  const float* const cos = call.rotary.cos + place.position * half;
  const float* const sin = call.rotary.sin + place.position * half;
  for (size_t j = threadIdx.x; j < half; j += kThreads) {
    const float a = x[j], b = x[half + j];
    query[j] = (a * cos[j] - b * sin[j]) * scale;
    query[half + j] = (b * cos[j] + a * sin[j]) * scale;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    attention_kernel(AttentionCall call, const RowPlace* places, float scale) {
  begin_kernel();
  float* const largest_of = reinterpret_cast<float*>(shared_memory());  // [kWarps]
  float* const sum_of = largest_of + kWarps;                            // [kWarps]
  float* const weights = sum_of + kWarps;                               // [kPage]
  float* const query = weights + kPage;                                 // [head_dim]
  const RowPlace place = places[blockIdx.x / call.heads];
  const size_t head = blockIdx.x % call.heads, dim = call.kv.head_dim;
  const size_t kv_head = head / (call.heads / call.kv.kv_heads);
  const uint32_t thread = threadIdx.x;
  rotate_query(call, place, head, scale, query);
  __syncthreads();

  float largest = -INFINITY, sum = 0.0f, out[kDims] = {};
  for (uint32_t first = 0; first <= place.last; first += kPage) {
    const char* const page =
        static_cast<const char*>(call.kv.pages[call.page_list[place.pages + first / kPage]]);
    const T* const keys = reinterpret_cast<const T*>(page + call.kv.offset) + kv_head * 2 * kPage * dim;
    const T* const values = keys + kPage * dim;
    const uint32_t left = place.last + 1 - first, visible = left < kPage ? left : kPage;

    float score = -INFINITY;
    if (thread < visible) {
      score = 0.0f;
      for (size_t d = 0; d < dim; ++d) score = fmaf(query[d], widen(keys[thread * dim + d]), score);
    }
    const float before = largest;
    largest = fmaxf(before, block_max<kThreads>(score, largest_of));
    const float weight = thread < visible ? exp_f32(score - largest) : 0.0f;
    if (thread < kPage) weights[thread] = weight;
    // The barrier in block_sum also makes the weights visible. The barrier in block_max comes before they
    // change.
    const float factor = exp_f32(before - largest);
    sum = sum * factor + block_sum<kThreads>(weight, sum_of);
#pragma unroll
    for (int i = 0; i < kDims; ++i) {
      const size_t d = thread + size_t(i) * kThreads;
      if (d >= dim) break;
      float o = out[i] * factor;
      for (uint32_t key = 0; key < visible; ++key) o = fmaf(weights[key], widen(values[key * dim + d]), o);
      out[i] = o;
    }
  }
  T* const act = static_cast<T*>(call.act) + (place.row * call.heads + head) * dim;
#pragma unroll
  for (int i = 0; i < kDims; ++i)
    if (thread + size_t(i) * kThreads < dim) narrow(out[i] / sum, act + thread + size_t(i) * kThreads);
}

}  // namespace attention_plain_file

void run_append(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                const uint32_t* page_list, const KvLayer& kv, DType type, const Rotary& rotary) {
  if (type == DType::bf16)
    run_append_as<Bf16>(stream, k, v, ld, places, n, page_list, kv, rotary);
  else if (type == DType::f16)
    run_append_as<F16>(stream, k, v, ld, places, n, page_list, kv, rotary);
  else
    run_append_as<float>(stream, k, v, ld, places, n, page_list, kv, rotary);
}

void run_attention_plain(Stream& stream, const AttentionCall& call, const AttentionKind& kind,
                         const RowPlace* places, size_t n) {
  const dim3 grid(static_cast<unsigned>(n * call.heads));
  const size_t shared = (2 * kWarps + kPage + call.kv.head_dim) * sizeof(float);
  const auto scale =
      static_cast<float>(std::ldexp(1.0 / std::sqrt(static_cast<double>(call.kv.head_dim)), kind.exponent));
  if (kind.type == DType::bf16)
    launch(attention_kernel<Bf16>, grid, kThreads, shared, stream, call, places, scale);
  else if (kind.type == DType::f16)
    launch(attention_kernel<F16>, grid, kThreads, shared, stream, call, places, scale);
  else
    launch(attention_kernel<float>, grid, kThreads, shared, stream, call, places, scale);
}

}  // namespace carbon::cuda
