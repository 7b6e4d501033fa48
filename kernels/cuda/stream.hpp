// The stream of a device, which orders all its work, and how kernels are put on it; and what all of the
// host's side uses: the status codes of the runtime as Errors, and the switches of the environment.
//
// A kernel is not launched at once. It is added to a list, until something else uses the stream: a copy, a
// product of the library, or a wait. Then the whole list of kernels and their arguments is given to the
// driver.
//
// A step of generation has the same list as the step before, bit for bit, because what changes from step to
// step (tokens, positions, pages) is read from device memory. A long list that occurs again is launched as
// one CUDA graph, which starts its kernels in a fraction of the time. Only equal lists are replayed, so a
// graph always does what its kernels would have done. If the driver cannot make a graph of a list, not even
// without overlap, its kernels are launched one by one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/launch.hpp"
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

/// Parts of the backend that the environment can turn off, to find out which of them is at fault.
struct Switches {
  bool overlap = true;  // CARBON_CUDA_OVERLAP: a kernel may start before the previous one has ended
  bool graphs = true;   // CARBON_CUDA_GRAPHS: kernels that come again are replayed as a graph
  bool library = true;  // CARBON_CUDA_LIBRARY: cuBLASLt computes products
  bool library_required =
      false;  // CARBON_CUDA_LIBRARY=1: without it nothing is done, not even a driver asked
};

/// What the environment says now. Throws Error for a value other than 0 and 1; an empty one counts as unset.
Switches read_switches();

/// The variables that are set, such as "CARBON_CUDA_GRAPHS=0", separated by ", ". Throws the same.
std::string describe_switches();

/// Is told of everything that computes on a stream, to time it (bench/gpu/kernel_times.hpp).
class LaunchWatcher {
 public:
  virtual ~LaunchWatcher() = default;
  /// Before and after a launch; `kernel` is null for a product of the library.
  virtual void begin(cudaStream_t stream, const void* kernel) = 0;
  virtual void end(cudaStream_t stream) = 0;
};

class Stream {
 public:
  /// For the device of the calling thread. Throws Error.
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Adds a kernel to the list; `bytes` is the size of its arguments, a multiple of 16. Throws Error if the
  /// device has less shared memory for a block than the kernel needs.
  void put(KernelCall call, const std::byte* arguments, size_t bytes);

  /// The stream of the driver, for work that is not a kernel. Calls flush() first, and throws what that
  /// throws.
  cudaStream_t handle() {
    flush();
    return handle_;
  }

  /// Gives the list to the driver. Throws Error if it refuses; the list is empty then.
  void flush();
  bool empty() const { return noted_.calls.empty(); }

  /// Tells `watcher` of every launch of what is put on the stream from here on, or nobody if it is null.
  /// While there is a watcher, there are neither graphs nor overlap, so that a launch has a time of its own.
  /// Throws only what flush() throws, and nothing for null.
  void watch(LaunchWatcher* watcher) {
    if (watcher != nullptr) flush();
    watcher_ = watcher;
  }
  /// Calls f(handle()), which launches work of the library.
  template <class F>
  void run_library(F f) {
    const cudaStream_t stream = handle();
    if (watcher_ != nullptr) watcher_->begin(stream, nullptr);
    f(stream);
    if (watcher_ != nullptr) watcher_->end(stream);
  }

  /// False if the environment or the driver does not let kernels overlap.
  bool overlaps() const { return overlap_; }
  /// How often a list was replayed as a graph.
  size_t replays() const { return replays_; }
  /// How often the driver could not make a graph at the first attempt, and what it said the last time.
  size_t graph_failures() const { return graph_failures_; }
  const std::string& graph_problem() const { return graph_problem_; }

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
  void start(const List& list, bool overlap) const;
  cudaGraphExec_t find_graph(const List& list);
  cudaGraphExec_t make_graph(const List& list);
  cudaGraphExec_t capture(const List& list, bool overlap);
  bool seen_before(const List& list);

  cudaStream_t handle_ = nullptr;
  bool overlap_ = false;        // kernels may overlap on this device
  bool graphs_overlap_ = true;  // also in graphs
  bool graphs_ = false;         // lists may become graphs
  List noted_, leaving_;        // the current list, and the one that flush() took last
  struct Kernel {
    size_t shared;  // bytes of shared memory that its blocks may have so far
    bool overlaps;
  };
  Kernel& kernel(const void* function);

  std::unordered_map<const void*, Kernel> kernels_;  // all kernels that were put on the stream
  std::vector<uint64_t> seen_;                       // hashes of long lists without a graph, the newest last
  std::list<Graph> kept_;                            // the most recently used first
  size_t replays_ = 0, graph_failures_ = 0, failures_in_a_row_ = 0;
  std::string graph_problem_;
  LaunchWatcher* watcher_ = nullptr;
};

}  // namespace carbon::cuda
