// A few threads that do what they are given, in the order in which it was given.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace carbon {

class Workers {
 public:
  /// Throws Error if the system gives no further thread.
  explicit Workers(size_t threads);
  /// Waits for the job that each thread is doing, and drops the others.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Any thread may call it. The job must not throw.
  void post(std::function<void()> job);

 private:
  void work();
  void end();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace carbon
