// Causal attention in f32 arithmetic for any head size and both types of cache. One block per row and query
// head.
//
// Keys are taken in tiles of 64 at absolute multiples of 64, with the running maximum and sum of an online
// softmax. A score is a chain of multiply-adds over ascending elements of the head, and an output element is
// a chain over ascending keys. A row never uses keys after its position.
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace attention_plain_file {

constexpr int kThreads = 128, kWarps = kThreads / kWarp;
constexpr uint32_t kPage = 64;
constexpr int kDims = static_cast<int>(kMaxPlainHead) / kThreads;  // output elements of a thread

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
  for (uint32_t first = 0; first <= place.position; first += kPage) {
    const char* const page =
        static_cast<const char*>(call.kv.pages[call.page_list[place.pages + first / kPage]]);
    const T* const keys = reinterpret_cast<const T*>(page + call.kv.offset) + kv_head * 2 * kPage * dim;
    const T* const values = keys + kPage * dim;
    const uint32_t left = place.position + 1 - first, visible = left < kPage ? left : kPage;

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

void run_attention_plain(Stream& stream, const AttentionCall& call, DType type, const RowPlace* places,
                         size_t n) {
  const dim3 grid(static_cast<unsigned>(n * call.heads));
  const size_t shared = (2 * kWarps + kPage + call.kv.head_dim) * sizeof(float);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(call.kv.head_dim)));
  if (type == DType::bf16)
    launch(attention_kernel<Bf16>, grid, kThreads, shared, stream, call, places, scale);
  else
    launch(attention_kernel<float>, grid, kThreads, shared, stream, call, places, scale);
}

}  // namespace carbon::cuda
