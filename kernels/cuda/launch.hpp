// Launches of kernels: a launch as data, and the one function by which .cu files put it on a stream.
//
// nvcc compiles .cu files with a host compiler whose C++ library may be another one than that of the program
// (packaging/build-portable.sh). So they see neither Stream nor any other class that has types of that
// library in it, and throw nothing: what they need of them is declared here and in kernels.hpp.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
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

/// The arguments of a kernel as bytes, one after the other.
template <class... Parameters>
struct PackedArguments {
  /// The distance from an argument of `size` bytes to the next one.
  static constexpr size_t step(size_t size) { return (size + 15) / 16 * 16; }
  static constexpr size_t kBytes = (step(sizeof(Parameters)) + ... + 0);
  // Lists of launches are compared as bytes (stream.hpp).
  static_assert(((std::is_trivially_copyable_v<Parameters> &&
                  (std::has_unique_object_representations_v<Parameters> ||
                   std::is_floating_point_v<Parameters>)) &&
                 ...));

  static std::array<std::byte, kBytes> pack(const Parameters&... values) {
    std::array<std::byte, kBytes> bytes{};
    size_t at = 0;
    const auto add = [&](const void* value, size_t size) {
      std::memcpy(bytes.data() + at, value, size);
      at += step(size);
    };
    (add(&values, sizeof values), ...);
    return bytes;
  }

  static cudaError_t start(const cudaLaunchConfig_t& config, const void* kernel, const std::byte* bytes) {
    std::tuple<Parameters...> values;
    const auto take = [&](void* value, size_t size) {
      std::memcpy(value, bytes, size);
      bytes += step(size);
    };
    return std::apply(
        [&](Parameters&... value) {
          (take(&value, sizeof value), ...);
          const auto function = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel));
          return cudaLaunchKernelEx(&config, function, value...);
        },
        values);
  }
};

/// Puts `kernel` on the stream: a grid of blocks of `threads`, each with `shared` bytes of dynamic shared
/// memory.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, size_t shared, Stream& stream,
            Arguments... arguments) {
  using Packed = PackedArguments<Parameters...>;
  const auto bytes = Packed::pack(static_cast<Parameters>(arguments)...);
  put(stream,
      {reinterpret_cast<const void*>(kernel),
       Packed::start,
       {grid.x, grid.y, grid.z},
       threads,
       static_cast<uint32_t>(shared)},
      bytes.data(), bytes.size());
}

/// The number of blocks of `size` that cover n.
inline unsigned blocks(size_t n, size_t size) {
  return static_cast<unsigned>((n + size - 1) / size);
}

}  // namespace carbon::cuda
