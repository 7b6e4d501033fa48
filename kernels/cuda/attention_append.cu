// Writes rotated keys, and values, to the pages of the cache. One block per row.
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace attention_append_file {

constexpr int kThreads = 128;
constexpr uint32_t kPage = 64;

template <class T>
__global__ void append_kernel(const float* k, const float* v, size_t ld, const RowPlace* places,
                              const uint32_t* page_list, KvLayer kv, Rotary rotary) {
  begin_kernel();
  const RowPlace place = places[blockIdx.x];
  // Divisions of 32 bits need far fewer instructions than those of 64 bits.
  const uint32_t dim = static_cast<uint32_t>(kv.head_dim), half = dim / 2;
  const uint32_t pairs = static_cast<uint32_t>(kv.kv_heads) * half;
  char* const page =
      static_cast<char*>(kv.pages[page_list[place.pages + place.position / kPage]]) + kv.offset;
  const float* const cos = rotary.cos + size_t{place.position} * half;
  const float* const sin = rotary.sin + size_t{place.position} * half;
  for (uint32_t i = threadIdx.x; i < pairs; i += kThreads) {
    const uint32_t head = i / half, j = i % half;
    T* const keys = reinterpret_cast<T*>(page) + (size_t{head} * 2 * kPage + place.position % kPage) * dim;
    T* const values = keys + kPage * dim;
    const size_t from = place.row * ld + size_t{head} * dim + j;
    const float a = k[from], b = k[from + half];
    narrow(a * cos[j] - b * sin[j], keys + j);
    narrow(b * cos[j] + a * sin[j], keys + half + j);
    narrow(v[from], values + j);
    narrow(v[from + half], values + half + j);
  }
}

}  // namespace attention_append_file

void run_append(Stream& stream, const float* k, const float* v, size_t ld, const RowPlace* places, size_t n,
                const uint32_t* page_list, const KvLayer& kv, DType type, const Rotary& rotary) {
  const dim3 grid(static_cast<unsigned>(n));
  if (type == DType::bf16)
    launch(append_kernel<Bf16>, grid, kThreads, 0, stream, k, v, ld, places, page_list, kv, rotary);
  else
    launch(append_kernel<float>, grid, kThreads, 0, stream, k, v, ld, places, page_list, kv, rotary);
}

}  // namespace carbon::cuda
