#include "bench/gpu/limits.hpp"

#include "bench/gpu/timing.hpp"
#include "kernels/cuda/selftest.hpp"

namespace carbon::gpu_bench {

double copy_bandwidth(const std::shared_ptr<const cuda::Device>& device, const Effort& effort) {
  constexpr int kCopies = 8;  // to a wait, so that the wait does not count
  const cuda::Memory from(device, effort.copy_bytes, "a copy"), to(device, effort.copy_bytes, "a copy");
  cuda::fill_random(*device, from.get(), effort.copy_bytes / 2);
  const double seconds = median_seconds(effort.seconds, effort.repeats, [&] {
    for (int i = 0; i < kCopies; ++i) device->copy(to.get(), from.get(), effort.copy_bytes);
    device->wait();
  });
  return 2.0 * kCopies * static_cast<double>(effort.copy_bytes) / seconds;
}

}  // namespace carbon::gpu_bench
