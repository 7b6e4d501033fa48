// Device memory that is owned by an object and kept for reuse.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/ops.hpp"
#include "src/base/error.hpp"

namespace carbon {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(ops::Backend& backend) : backend_(&backend) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// Returns memory for at least `bytes`. The contents are lost when the buffer grows. Throws OutOfMemory;
  /// the buffer is empty then.
  ///
  /// A buffer that grows doubles, up to `most` bytes, if there is memory for it: a device repeats kernels
  /// faster if their buffers stay where they are.
  void* ensure(size_t bytes, size_t most = 0) {
    if (bytes <= bytes_) return memory_;
    const size_t larger = std::max(bytes, std::min(2 * bytes_, most));
    reset();
    try {
      take(larger);
    } catch (const OutOfMemory&) {
      if (larger == bytes) throw;
      take(bytes);
    }
    return memory_;
  }
  /// Frees the memory.
  void reset() {
    backend_->release(memory_);
    memory_ = nullptr;
    bytes_ = 0;
  }
  float* floats(size_t count) { return static_cast<float*>(ensure(count * sizeof(float))); }
  void* get() const { return memory_; }
  size_t bytes() const { return bytes_; }
  float* floats() const { return static_cast<float*>(memory_); }

 private:
  void take(size_t bytes) {
    memory_ = backend_->allocate(bytes);
    bytes_ = bytes;
  }

  ops::Backend* backend_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace carbon
