// The time of each kernel in a piece of work, by events of the device before and after every launch.
//
// Meanwhile kernels neither overlap nor are replayed as graphs, and an event takes time, too. So short
// kernels seem longer than they are, and the sum may be more than the work takes.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernels/cuda/stream.hpp"

namespace carbon::gpu_bench {

struct KernelTime {
  std::string name;
  double launches = 0, seconds = 0;  // of a run
};

/// "kernel<64>" out of what the compiler calls a kernel, without namespaces and arguments.
std::string short_kernel_name(const std::string& mangled);

class KernelTimes final : public cuda::LaunchWatcher {
 public:
  explicit KernelTimes(cuda::Stream& stream) : stream_(&stream) {}
  ~KernelTimes() override;
  KernelTimes(const KernelTimes&) = delete;
  KernelTimes& operator=(const KernelTimes&) = delete;

  /// Forgets earlier times, and measures `runs` runs.
  void measure(size_t runs, const std::function<void()>& run);
  /// On average over the runs, the longest first.
  std::vector<KernelTime> times() const;

  void begin(cudaStream_t stream, const void* kernel) override;
  void end(cudaStream_t stream) override;

 private:
  struct Total {
    size_t order;  // in which kernels first came
    size_t launches = 0;
    double seconds = 0;
  };
  void record(cudaStream_t stream);
  void read_events();

  cuda::Stream* stream_;
  std::vector<const void*> launched_;  // since the events were read
  std::vector<cudaEvent_t> events_;    // two for each launch, and spare ones
  size_t recorded_ = 0;
  std::map<const void*, Total> totals_;
  size_t runs_ = 0;
};

}  // namespace carbon::gpu_bench
