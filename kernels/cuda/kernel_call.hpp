// A launch of a kernel, as data, and the one function by which .cu files put it on a stream.
//
// nvcc compiles .cu files with a host compiler whose C++ library may be another one than that of the program
// (packaging/build-portable.sh). So they see neither Stream nor any other class that has types of that
// library in it, and throw nothing: what they need of them is declared here and in kernels.hpp.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace carbon::cuda {

class Stream;

/// Starts a kernel with packed arguments (launch.hpp packs and unpacks them).
using StartKernel = cudaError_t (*)(const cudaLaunchConfig_t& config, const void* kernel,
                                    const std::byte* arguments);

/// One launch of a kernel. A launch and its arguments are compared as bytes, so they must not have padding.
struct KernelCall {
  const void* kernel = nullptr;
  StartKernel start = nullptr;
  std::array<uint32_t, 3> grid{};
  uint32_t threads = 0;
  uint32_t shared = 0;     // bytes of dynamic shared memory
  uint32_t overlaps = 0;   // 1 if its blocks may start before the previous kernel has ended
  uint64_t arguments = 0;  // offset of its arguments in the bytes of the list
};
static_assert(std::has_unique_object_representations_v<KernelCall>);

/// Stream::put().
void put(Stream& stream, const KernelCall& call, const std::byte* arguments, size_t bytes);

}  // namespace carbon::cuda
