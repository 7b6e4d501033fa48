// The one stream of a device, in whose order everything on it happens.
#pragma once

#include <cuda_runtime.h>

namespace carbon::cuda {

class Stream {
 public:
  /// On the calling thread's device. Throws Error.
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t handle() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

}  // namespace carbon::cuda
