// Page-locked memory through which data is copied from the host to the device and back.
//
// With other memory cudaMemcpyAsync() may wait for the stream, and may read the memory after it has returned
// (CUDA runtime API, "API synchronization behavior"). With page-locked memory a copy to the device waits for
// nothing, and the memory of the caller is read before the call returns; a copy to the host is made by the
// device itself.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

namespace carbon::cuda {

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

}  // namespace carbon::cuda
