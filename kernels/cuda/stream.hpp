// The one stream of a device, in whose order everything on it happens, and how kernels get there.
//
// A kernel is not given to the driver at once but noted, until something else wants the stream: a copy, a
// product of the library, or a wait. What has gathered by then is one list of kernels and their arguments. A
// step of generation has the same list as the step before, bit for bit, since what changes from step to step
// (tokens, positions, pages) is read from device memory; and a long list that comes again is given to the
// driver as one CUDA graph, which starts kernels in a fraction of the time that single ones take. Only equal
// lists are ever replayed, so that a graph does what its kernels would have done, whoever asks; and where the
// driver makes no graph, kernels are started one by one.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace carbon::cuda {

/// Starts a kernel with arguments that lie one behind the other (launch.hpp packs and unpacks them).
using StartKernel = cudaError_t (*)(const cudaLaunchConfig_t& config, const void* kernel,
                                    const std::byte* arguments);

/// A launch. It and its arguments are compared as bytes, so they have no padding.
struct KernelCall {
  const void* kernel = nullptr;
  StartKernel start = nullptr;
  std::array<uint32_t, 3> grid{};
  uint32_t threads = 0;
  uint32_t shared = 0;     // bytes of dynamic shared memory
  uint32_t overlaps = 0;   // 1: its blocks may start before the kernel ahead has ended
  uint64_t arguments = 0;  // where they begin in the list's bytes
};
static_assert(std::has_unique_object_representations_v<KernelCall>);

class Stream {
 public:
  /// On the calling thread's device. Throws Error.
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Notes a kernel; `bytes` of arguments, a multiple of 16. Throws Error when the device cannot give its
  /// block the shared memory.
  void put(KernelCall call, const std::byte* arguments, size_t bytes);

  /// The driver's stream, for anything that is no kernel: all kernels noted are on it. Throws what flush()
  /// throws.
  cudaStream_t handle() {
    flush();
    return handle_;
  }

  /// Gives the driver what is noted. Throws Error when it refuses; nothing is noted then.
  void flush();
  bool empty() const { return noted_.calls.empty(); }

  /// How often a list was replayed as a graph.
  size_t replays() const { return replays_; }

 private:
  struct List {
    std::vector<KernelCall> calls;
    std::vector<std::byte> arguments;
    bool operator==(const List& other) const;
    void clear();
    uint64_t hash() const;
  };
  struct Graph {
    List list;
    cudaGraphExec_t executable;
  };
  void start(const List& list) const;
  cudaGraphExec_t find_graph(const List& list);
  cudaGraphExec_t make_graph(const List& list) const;
  bool seen_before(const List& list);

  cudaStream_t handle_ = nullptr;
  bool overlap_ = false;  // kernels may be launched so, and such launches recorded
  bool graphs_ = true;    // the driver makes graphs
  List noted_, leaving_;  // what has gathered, and what flush() has last taken from there
  struct Kernel {
    size_t shared;  // bytes that its blocks may have by now
    bool overlaps;
  };
  Kernel& kernel(const void* function);

  std::unordered_map<const void*, Kernel> kernels_;  // those that have been put
  std::vector<uint64_t> seen_;                       // hashes of long lists without a graph, the latest last
  std::list<Graph> kept_;                            // the last used first
  size_t replays_ = 0;
};

}  // namespace carbon::cuda
