// A CUDA device with one stream, and memory on it.
//
// Everything that a backend does goes through its one stream, in order, so that a buffer may be used again as
// soon as the work that reads it has been put on the stream.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/staging.hpp"
#include "kernels/cuda/stream.hpp"

namespace carbon::cuda {

/// Every allocation is a multiple of this.
inline constexpr size_t kAlignment = 256;

class Device {
 public:
  /// Throws Error when there is no such device, or none that this library has code for.
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Makes it the calling thread's device: before anything else is done on it.
  void use() const;
  Stream& stream() const { return *stream_; }
  /// Waits until all work on the stream is done; throws what went wrong on the way.
  void wait() const;
  /// Gives the device all work that is still noted, before memory that it may use goes. Whoever asks for
  /// results sees what went wrong.
  void settle() const noexcept;
  /// Compute capability, e.g. 90.
  int capability() const { return capability_; }
  int multiprocessors() const { return multiprocessors_; }
  /// Bytes of memory that nobody has.
  size_t free_memory() const;
  /// Bytes of shared memory that a block may have.
  size_t block_shared() const { return block_shared_; }

  void copy_in(void* device, const void* host, size_t bytes) const;   // `host` may change on return
  void copy_out(void* host, const void* device, size_t bytes) const;  // waits
  void copy(void* to, const void* from, size_t bytes) const;
  void clear(void* memory, size_t bytes) const;

 private:
  int index_;
  int capability_ = 0, multiprocessors_ = 0;
  size_t block_shared_ = 0;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Staging> staging_;
};

/// "sm_80 sm_90": the kinds of device that the kernels are compiled for.
std::string compiled_kinds();
/// A line a device. Throws Error without a driver or a device.
std::vector<std::string> list_devices();

/// Device memory, owned.
class Memory {
 public:
  Memory() = default;
  /// Contents undefined. Throws OutOfMemory naming size and `what`.
  Memory(std::shared_ptr<const Device> device, size_t bytes, const char* what);
  ~Memory() { reset(); }
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  void reset();
  void* get() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }
  void* release();

 private:
  std::shared_ptr<const Device> device_;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

/// Memory that grows when asked for more; contents are then lost.
class Scratch {
 public:
  Scratch(std::shared_ptr<const Device> device, const char* what) : device_(std::move(device)), what_(what) {}
  void* ensure(size_t bytes);
  template <class T>
  T* ensure_array(size_t count) {
    return static_cast<T*>(ensure(count * sizeof(T)));
  }

 private:
  std::shared_ptr<const Device> device_;
  const char* what_;
  Memory memory_;
};

}  // namespace carbon::cuda
