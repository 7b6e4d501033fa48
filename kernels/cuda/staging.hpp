// Page-locked memory through which data goes from the host to the device and back.
//
// What cudaMemcpyAsync() does with other memory is the driver's choice: it may wait for the stream, and may
// read the memory after it has returned (CUDA runtime API, "API synchronization behavior"). From here a copy
// to the device waits for nothing, and the caller's memory is read before it returns; one back to the host
// is made by the device itself.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

namespace carbon::cuda {

class Staging {
 public:
  /// On the calling thread's device. Throws Error.
  Staging();
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Puts a copy on the stream, always the same one. Waits only when the stream is behind by all that fits.
  void copy_in(void* device, const void* host, size_t bytes, cudaStream_t stream);
  /// Waits for all that is on the stream, and for the copy behind it.
  void copy_out(void* host, const void* device, size_t bytes, cudaStream_t stream);

 private:
  struct Part {
    std::byte* memory = nullptr;
    cudaEvent_t read = nullptr;  // the copies from it have been done
  };
  void next_part(cudaStream_t stream);
  void release();

  std::array<Part, 2> parts_;
  size_t current_ = 0, used_ = 0;  // a part, and bytes of it that copies have been put on the stream for
};

}  // namespace carbon::cuda
