// Times by the host's clock: what is timed ends by waiting for the device, so that launches and their gaps
// count.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace carbon::gpu_bench {

/// The median time of `run` in seconds: at least `repeats` runs and `seconds` in all, after two that do not
/// count (code is loaded and memory is allocated in them).
inline double median_seconds(double seconds, size_t repeats, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  run();
  std::vector<double> times;
  for (double sum = 0; sum < seconds || times.size() < repeats; sum += times.back()) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace carbon::gpu_bench
