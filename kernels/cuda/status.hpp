// The status codes of the CUDA runtime as Errors.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "src/base/error.hpp"

namespace carbon::cuda {

/// Throws Error, or OutOfMemory, unless `status` is success. `what` says what was being done.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, so that a later call does not report it again
  const std::string text =
      std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  if (status == cudaErrorMemoryAllocation)
    throw OutOfMemory("cuda", text + "; use a smaller batch or a device with more memory",
                      {"a smaller {--batch-tokens} needs less memory"});
  throw Error("cuda", text);
}

}  // namespace carbon::cuda
