// What a test of products needs of the device (selftest.hpp).
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/instructions.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace selftest_file {

constexpr int kThreads = 256;

// Two rounds of multiplying and shifting map neighbouring indices to unrelated values.
__device__ float random_number(size_t index) {
  uint32_t h = static_cast<uint32_t>(index) * 2654435769u;
  h = (h ^ (h >> 15)) * 2246822519u;
  h ^= h >> 13;
  return static_cast<float>(static_cast<int32_t>(h)) * 4.656612873077393e-10f;
}

__global__ void fill_kernel(Bf16* to, size_t n) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
    narrow(random_number(i), to + i);
}

__global__ void fill_opposite_kernel(Bf16* to, size_t n, size_t k, float sign) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads, half = k / 2;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    const size_t column = i % k;
    if (column < half)
      narrow(random_number(i), to + i);
    else
      narrow(column < 2 * half ? sign * random_number(i - half) : 0.0f, to + i);
  }
}

__global__ void differ_kernel(const uint32_t* a, size_t a_step, const uint32_t* b, size_t b_step,
                              size_t width, size_t n, uint32_t* found) {
  begin_kernel();
  const size_t step = size_t{gridDim.x} * kThreads;
  bool different = false;
  for (size_t i = size_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step) {
    const size_t row = i / width, column = i % width;
    different |= a[row * a_step + column] != b[row * b_step + column];
  }
  if (different) arrive(found, UINT32_MAX);  // counts the threads that have found a difference
}

}  // namespace selftest_file

void run_fill(Stream& stream, void* to, size_t n) {
  launch(fill_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, stream, static_cast<Bf16*>(to), n);
}

void run_fill_opposite(Stream& stream, void* to, size_t rows, size_t k, int sign) {
  const size_t n = rows * k;
  launch(fill_opposite_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, stream,
         static_cast<Bf16*>(to), n, k, static_cast<float>(sign));
}

void run_compare(Stream& stream, const Compared& c, uint32_t* found) {
  const size_t n = c.rows * c.width;
  launch(differ_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, stream, c.a, c.a_step, c.b,
         c.b_step, c.width, n, found);
}

}  // namespace carbon::cuda
