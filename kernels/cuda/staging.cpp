#include "kernels/cuda/staging.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/status.hpp"

namespace carbon::cuda {
namespace {

// Bytes of a part: room for the tables of many steps, and large enough for the host to fill one part of a
// weight while another is read.
constexpr size_t kPartBytes = size_t{4} << 20;
constexpr size_t kAlignment = 64;

}  // namespace

Staging::Staging() {
  try {
    for (Part& part : parts_) {
      void* memory = nullptr;
      check(cudaMallocHost(&memory, kPartBytes), "allocating page-locked memory");
      part.memory = static_cast<std::byte*>(memory);
      check(cudaEventCreateWithFlags(&part.read, cudaEventDisableTiming), "allocating page-locked memory");
    }
  } catch (...) {
    release();
    throw;
  }
}

Staging::~Staging() {
  release();
}

void Staging::release() {
  for (Part& part : parts_) {
    if (part.read != nullptr) cudaEventDestroy(part.read);
    if (part.memory != nullptr) cudaFreeHost(part.memory);
  }
}

void Staging::copy_in(void* device, const void* host, size_t bytes, cudaStream_t stream) {
  auto* to = static_cast<std::byte*>(device);
  const auto* from = static_cast<const std::byte*>(host);
  while (bytes > 0) {
    if (used_ == kPartBytes) next_part(stream);
    const size_t count = std::min(bytes, kPartBytes - used_);
    std::byte* const through = parts_[current_].memory + used_;
    std::memcpy(through, from, count);
    check(cudaMemcpyAsync(to, through, count, cudaMemcpyHostToDevice, stream), "copying to the GPU");
    used_ = std::min(used_ + (count + kAlignment - 1) / kAlignment * kAlignment, kPartBytes);
    to += count;
    from += count;
    bytes -= count;
  }
}

// By the order of the stream, the former contents of the parts have been read before this writes to them.
void Staging::copy_out(void* host, const void* device, size_t bytes, cudaStream_t stream) {
  auto* to = static_cast<std::byte*>(host);
  const auto* from = static_cast<const std::byte*>(device);
  std::byte* const through = parts_[current_].memory;
  used_ = 0;
  while (bytes > 0) {
    const size_t count = std::min(bytes, kPartBytes);
    check(cudaMemcpyAsync(through, from, count, cudaMemcpyDeviceToHost, stream), "copying from the GPU");
    check(cudaStreamSynchronize(stream), "waiting for the GPU");
    std::memcpy(to, through, count);
    to += count;
    from += count;
    bytes -= count;
  }
}

void Staging::next_part(cudaStream_t stream) {
  check(cudaEventRecord(parts_[current_].read, stream), "copying to the GPU");
  current_ = (current_ + 1) % parts_.size();
  used_ = 0;
  check(cudaEventSynchronize(parts_[current_].read), "copying to the GPU");
}

}  // namespace carbon::cuda
