// A CUDA device with one stream, and memory on it.
//
// All work of a backend goes through one stream, in order. So a buffer may be used again as soon as the work
// that reads it has been put on the stream.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/stream.hpp"

namespace carbon::cuda {

/// Page-locked memory through which data is copied from the host to the device and back.
///
/// With other memory cudaMemcpyAsync() may wait for the stream, and may read the memory after it has returned
/// (CUDA runtime API, "API synchronization behavior"). With page-locked memory a copy to the device waits for
/// nothing, and the memory of the caller is read before the call returns; a copy to the host is made by the
/// device itself.
class Staging {
 public:
  /// For the device of the calling thread. Throws Error.
  Staging();
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Puts a copy to the device on the stream, which must be the same one in all calls. Waits only if all
  /// parts of the memory have copies that are not done yet.
  void copy_in(void* device, const void* host, size_t bytes, cudaStream_t stream);
  /// Copies to the host after all work on the stream. Waits for that.
  void copy_out(void* host, const void* device, size_t bytes, cudaStream_t stream);

 private:
  struct Part {
    std::byte* memory = nullptr;
    cudaEvent_t read = nullptr;  // recorded after the copies from this part
  };
  void next_part(cudaStream_t stream);
  void release();

  std::array<Part, 2> parts_;
  size_t current_ = 0, used_ = 0;  // the part in use, and how many of its bytes have copies on the stream
};

/// The newest kind of a list in ascending order, such as "80 90", whose code runs on a device, or 0. Code for
/// sm_XY runs on every later sm_XZ with the same X. Code for the newest kind is also included as PTX, which
/// the driver compiles for all later kinds.
int code_for(const std::string& kinds, int capability);

class Device {
 public:
  /// Throws Error if there is no such device, or this library has no code for it.
  explicit Device(int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Makes this the device of the calling thread. Must be called before any other operation on it.
  void use() const;
  Stream& stream() const { return *stream_; }
  /// Waits until all work on the stream is done. Throws Error if some of it failed.
  void wait() const;
  /// Gives the device all work that was put on the stream so far, because memory that it uses is about to be
  /// freed. Does not throw: a failure is reported to the caller who asks for results.
  void submit_pending() const noexcept;
  /// What the driver calls the card, e.g. "NVIDIA H100 80GB HBM3".
  const std::string& name() const { return name_; }
  /// Compute capability, e.g. 90.
  int capability() const { return capability_; }
  /// That for which the code was compiled that runs here: it has no other instructions.
  int code() const { return code_; }
  int multiprocessors() const { return multiprocessors_; }
  /// Bytes of free memory.
  size_t free_memory() const;
  /// Bytes of shared memory that a block may have.
  size_t block_shared() const { return block_shared_; }

  void copy_in(void* device, const void* host, size_t bytes) const;   // `host` may change after the return
  void copy_out(void* host, const void* device, size_t bytes) const;  // waits for the copy
  void copy(void* to, const void* from, size_t bytes) const;
  /// Copies `rows` rows of `bytes`, which begin `to_step` and `from_step` bytes apart.
  void copy_rows(void* to, size_t to_step, const void* from, size_t from_step, size_t bytes,
                 size_t rows) const;
  void clear(void* memory, size_t bytes) const;

 private:
  int index_;
  std::string name_;
  int capability_ = 0, code_ = 0, multiprocessors_ = 0;
  size_t block_shared_ = 0;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<Staging> staging_;
};

/// "12.4", of CUDA's number for it, 12040.
std::string spelled_cuda(int version);
/// The kinds of device for which the kernels are compiled, such as "sm_80 sm_90".
std::string compiled_kinds();
/// One line per device. Throws Error if there is no driver or no device.
std::vector<std::string> list_devices();

/// Owns device memory.
class Memory {
 public:
  Memory() = default;
  /// The contents are undefined. Throws OutOfMemory, which names the size and `what`.
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

/// Device memory that grows when a larger size is requested. Its contents are lost then. It at least doubles
/// if the device has the memory: a graph of kernels holds addresses and is made anew when one changes, so a
/// size that creeps up with the rows of a batch must not move the memory every time.
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
