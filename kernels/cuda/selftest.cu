#include "kernels/cuda/selftest.hpp"

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace selftest_file {

constexpr int kThreads = 256;

__global__ void fill_kernel(Bf16* to, size_t n) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    // Two rounds of multiplying and shifting map neighbouring indices to unrelated values.
    uint32_t h = static_cast<uint32_t>(i) * 2654435769u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    narrow(static_cast<float>(static_cast<int32_t>(h)) * 4.656612873077393e-10f, to + i);
  }
}

__global__ void differ_kernel(const uint32_t* a, const uint32_t* b, size_t n, int* found) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  bool different = false;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) different |= a[i] != b[i];
  if (different) *found = 1;  // all threads that write it write the same value
}

}  // namespace selftest_file

void fill_random(const Device& device, void* to, size_t n) {
  launch(fill_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, device.stream(),
         static_cast<Bf16*>(to), n);
}

bool differ(const std::shared_ptr<const Device>& device, const void* a, const void* b, size_t bytes) {
  const size_t n = bytes / sizeof(uint32_t);
  const Memory found(device, sizeof(int), "a comparison");
  int result = 1;
  device->clear(found.get(), sizeof result);
  launch(differ_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, device->stream(),
         static_cast<const uint32_t*>(a), static_cast<const uint32_t*>(b), n, found.as<int>());
  device->copy_out(&result, found.get(), sizeof result);
  return result != 0;
}

}  // namespace carbon::cuda
