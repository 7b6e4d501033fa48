// Launching kernels and checking what the CUDA runtime answers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "kernels/cuda/stream.hpp"
#include "src/util/error.hpp"

namespace carbon::cuda {

/// Throws Error, or OutOfMemory, unless `status` is success; `what` says what was being done.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // an error that does not stick is not to be seen again
  const std::string text =
      std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")";
  if (status == cudaErrorMemoryAllocation)
    throw OutOfMemory("cuda", text + "; use a smaller --batch-tokens or a device with more memory");
  throw Error("cuda", text);
}

/// Runs `kernel` on a grid; `shared` bytes of dynamic shared memory a block.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, size_t shared, Stream& stream,
            Arguments... arguments) {
  if (shared > 48 * 1024)  // more than this must be asked for
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
          "shared memory of a kernel");
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream.handle();
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "launching a kernel");
}

/// Blocks of `size` that cover n.
inline unsigned blocks(size_t n, size_t size) {
  return static_cast<unsigned>((n + size - 1) / size);
}

}  // namespace carbon::cuda
