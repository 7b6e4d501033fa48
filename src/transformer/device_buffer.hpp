// Device memory that is owned by an object and kept for reuse.
#pragma once

#include <cstddef>

#include "kernels/ops.hpp"

namespace carbon {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(ops::Backend& backend) : backend_(&backend) {}
  ~DeviceBuffer() { reset(); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// Returns memory for at least `bytes`. The contents are lost when the buffer grows. Throws OutOfMemory;
  /// the buffer is empty then.
  void* ensure(size_t bytes) {
    if (bytes <= bytes_) return memory_;
    reset();
    memory_ = backend_->allocate(bytes);
    bytes_ = bytes;
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
  float* floats() const { return static_cast<float*>(memory_); }

 private:
  ops::Backend* backend_;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace carbon
