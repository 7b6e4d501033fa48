// Threads that wait for work, and share its pieces among them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace carbon {

/// A number of threads, of which the caller of run() is one. The others start with the pool and end with it.
/// When there is no work, they look for some for about 50 microseconds, because the next operation of a model
/// usually comes sooner, and then sleep.
///
/// run() never waits for a thread that has not begun a piece. So a thread that gets no CPU, because other
/// programs have them, does not hold up the work.
class ThreadPool {
 public:
  using Work = std::function<void(size_t piece, size_t thread)>;

  /// Starts threads - 1 threads. Throws Error if the system gives too few.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The number of threads, at least 1.
  int size() const { return static_cast<int>(others_.size()) + 1; }

  /// Calls work(piece, thread) once for each piece in [0, pieces), in any order, and returns when all calls
  /// have. Calls that run at the same time have different `thread`s, all in [0, size()). After an exception
  /// no further piece is begun, and the first exception is thrown again here.
  ///
  /// The calling thread computes all pieces alone if the pool is busy: with a run() of another thread, or
  /// with the one that this call is part of. The same is true in a process that was forked after the pool
  /// had started, because the other threads are not in it.
  void run(size_t pieces, const Work& work);

 private:
  void serve(size_t thread);
  void take_pieces(size_t thread);
  void wake(size_t pieces);
  void stop();
  bool forked() const;

  std::vector<std::thread> others_;
  const int forks_;
  bool spins_;
  std::atomic_flag busy_;

  // The work at hand. A thread that holds a piece may read it: run() does not return before.
  const Work* work_ = nullptr;
  size_t pieces_ = 0;
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;

  // Each in a cache line of its own, because threads write the first while others look at the second.
  alignas(64) std::atomic<uint64_t> left_;           // kNone + pieces that no thread has taken
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // pieces that have not returned
  alignas(64) std::atomic<uint32_t> calls_{0};       // changes with every run(), and at the end
  std::atomic<bool> ends_{false};
};

}  // namespace carbon
