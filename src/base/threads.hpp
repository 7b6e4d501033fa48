// The same work on several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace carbon {

/// Calls work(0) on this thread and work(1) to work(n - 1) each on one of its own, and returns when all have
/// returned. `work` must not throw.
inline void run_threads(size_t n, const std::function<void(size_t)>& work) {
  std::vector<std::jthread> others;
  for (size_t i = 1; i < n; ++i) others.emplace_back([&work, i] { work(i); });
  if (n > 0) work(0);
}

}  // namespace carbon
