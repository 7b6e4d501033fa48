// Threads: what each of them begins with, the same work on several, and a pool of them that waits for work
// and shares its pieces.
#pragma once

#include <atomic>
#include <cfenv>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {

/// What a thread brings along besides its arguments, and what results must not depend on: how it rounds,
/// whether it takes tiny numbers for zero, and how its language writes numbers. A host of the library may
/// have changed any of these, and so may a plugin.
///
/// While it exists, this thread has the floating-point environment that a program starts with (to nearest,
/// with subnormal numbers, without traps) and the locale C. Then it has its own again, without the exceptions
/// that were raised meanwhile. Stands where a thread begins to work for carbon: at the start of each of its
/// threads, in each function of libcarbon, and in each that a plugin calls.
class OwnEnvironment {
 public:
  OwnEnvironment();
  ~OwnEnvironment();
  OwnEnvironment(const OwnEnvironment&) = delete;
  OwnEnvironment& operator=(const OwnEnvironment&) = delete;

 private:
  std::fenv_t numbers_;
  locale_t locale_;
};

/// Gives the calling thread a name of up to 15 letters, by which `top -H` and profilers show it.
void name_thread(const char* name);

/// Starts a thread, which has an environment of its own (OwnEnvironment) and not that of whoever starts it.
/// With a name, it has that (name_thread()), otherwise the one of the thread that starts it. Throws Error
/// saying what could not be had if the system gives no further one.
inline std::thread start_thread(std::function<void()> work, const char* name = nullptr) {
  try {
    return std::thread([work = std::move(work), name] {
      if (name != nullptr) name_thread(name);
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

/// A number of threads, of which the caller of run() is one. The others start with the pool and end with it.
/// When there is no work, they look for some for about 50 microseconds, because the next operation of a model
/// usually comes sooner, and then sleep.
///
/// run() never waits for a thread that has not begun a piece. So a thread that gets no CPU, because other
/// programs have them, does not hold up the work.
class ThreadPool {
 public:
  using Work = std::function<void(size_t piece, size_t thread)>;

  /// Starts threads - 1 threads of this name. Throws Error if the system gives too few.
  explicit ThreadPool(int threads, const char* name = "carbon-pool");
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
