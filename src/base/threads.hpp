// The same work on several threads.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/own_environment.hpp"

namespace carbon {

/// Starts a thread, which has an environment of its own (OwnEnvironment) and not that of whoever starts it.
/// Throws Error saying what could not be had if the system gives no further one.
inline std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread([work = std::move(work)] {
      const OwnEnvironment own;
      work();
    });
  } catch (const std::system_error& error) {
    throw Error("threads", std::string("cannot start a further thread (") + error.what() +
                               "); the limit on processes or on memory of this shell or job is too low");
  }
}

/// Calls work(0) on this thread and work(1) to work(n - 1) each on its own thread, and returns when all have
/// returned. If one throws, or its thread cannot be started, calls `failed`, which must make the others
/// return. Several threads may call `failed` at once.
inline void run_threads(size_t n, const std::function<void(size_t)>& work,
                        const std::function<void(const std::exception_ptr&)>& failed) {
  const auto guarded = [&](const auto& action) {
    try {
      action();
    } catch (...) {
      failed(std::current_exception());
    }
  };
  std::vector<std::thread> others;
  guarded([&] {
    for (size_t i = 1; i < n; ++i)
      others.push_back(start_thread([&work, guarded, i] { guarded([&] { work(i); }); }));
    if (n > 0) work(0);
  });
  for (std::thread& other : others) other.join();
}

}  // namespace carbon
