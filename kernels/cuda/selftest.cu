#include "kernels/cuda/selftest.hpp"

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/instructions.cuh"
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

void fill_random(const Device& device, void* to, size_t n) {
  launch(fill_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, device.stream(),
         static_cast<Bf16*>(to), n);
}

void fill_opposite(const Device& device, void* to, size_t rows, size_t k, int sign) {
  const size_t n = rows * k;
  launch(fill_opposite_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, device.stream(),
         static_cast<Bf16*>(to), n, k, static_cast<float>(sign));
}

Comparisons::Comparisons(std::shared_ptr<const Device> device, size_t most)
    : device_(std::move(device)), found_(device_, most * sizeof(uint32_t), "comparisons") {
  device_->clear(found_.get(), found_.bytes());
}

void Comparisons::add(const void* a, size_t a_step, const void* b, size_t b_step, size_t bytes, size_t rows) {
  constexpr size_t kWord = sizeof(uint32_t);
  if ((count_ + 1) * sizeof(uint32_t) > found_.bytes()) throw Error("selftest", "too many comparisons");
  const size_t n = rows * (bytes / kWord);
  launch(differ_kernel, dim3(blocks(n, size_t{8} * kThreads)), kThreads, 0, device_->stream(),
         static_cast<const uint32_t*>(a), a_step / kWord, static_cast<const uint32_t*>(b), b_step / kWord,
         bytes / kWord, n, found_.as<uint32_t>() + count_);
  ++count_;
}

std::vector<bool> Comparisons::results() {
  std::vector<uint32_t> found(count_);
  device_->copy_out(found.data(), found_.get(), count_ * sizeof(uint32_t));
  device_->clear(found_.get(), found_.bytes());
  count_ = 0;
  std::vector<bool> differ;
  for (const uint32_t threads : found) differ.push_back(threads != 0);
  return differ;
}

}  // namespace carbon::cuda
