// Writes rotated keys, and values, to the pages of the cache.
#include <algorithm>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace attention_append_file {

constexpr int kThreads = 128;
constexpr uint32_t kPage = 64;

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

}  // namespace attention_append_file

void run_append(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                const uint32_t* page_list, const KvLayer& kv, DType type, const Rotary& rotary) {
  if (type == DType::bf16)
    run_append_as<Bf16>(stream, k, v, ld, places, n, page_list, kv, rotary);
  else
    run_append_as<float>(stream, k, v, ld, places, n, page_list, kv, rotary);
}

}  // namespace carbon::cuda
