#include "src/base/threads.hpp"

#include <pthread.h>

#include <algorithm>

#include "src/base/system.hpp"

namespace carbon {
namespace {

locale_t plain_locale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return plain;
}

}  // namespace

// FE_DFL_ENV also clears what C has no names for: on x86-64 the bits of MXCSR that take subnormal numbers for
// zero, on AArch64 that of FPCR.
OwnEnvironment::OwnEnvironment() : locale_(uselocale(plain_locale())) {
  std::fegetenv(&numbers_);
  std::fesetenv(FE_DFL_ENV);
}

OwnEnvironment::~OwnEnvironment() {
  std::fesetenv(&numbers_);
  uselocale(locale_);
}

void name_thread(const char* name) {
  (void)pthread_setname_np(pthread_self(), name);
}

namespace {

// Threads that find no piece subtract as well, but each only once for a call, so that left_ stays positive.
constexpr uint64_t kNone = uint64_t{1} << 32;
constexpr size_t kMostPieces = UINT32_MAX;
// Looks at a value before a thread sleeps; a sleeping thread takes ten times as long to wake.
constexpr int kLooks = 2000;
// The threads that a thread with work wakes, each of which does the same.
constexpr size_t kWakes = 2;

// The number of forks between the process in which the program started and this one.
std::atomic<int> forks{0};
[[maybe_unused]] const int counts_forks = pthread_atfork(nullptr, nullptr, [] { ++forks; });

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// Returns the value once it is no longer `old`.
uint32_t wait_for_change(const std::atomic<uint32_t>& value, uint32_t old, bool spins) {
  for (int i = 0; spins && i < kLooks; ++i) {
    if (const uint32_t now = value.load(std::memory_order_acquire); now != old) return now;
    pause_cpu();
  }
  value.wait(old);
  return value.load();
}

}  // namespace

// With more threads than CPUs, a thread that looks for work would keep a CPU from one that has some.
ThreadPool::ThreadPool(int threads, const char* name)
    : forks_(forks), spins_(threads <= available_cpus()), left_(kNone) {
  try {
    for (int i = 1; i < threads; ++i)
      others_.push_back(start_thread([this, thread = static_cast<size_t>(i)] { serve(thread); }, name));
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

bool ThreadPool::forked() const {
  return forks_ != forks;
}

void ThreadPool::stop() {
  if (forked()) {
    for (std::thread& other : others_) other.detach();
    return;
  }
  ends_ = true;
  ++calls_;
  calls_.notify_all();
  for (std::thread& other : others_) other.join();
}

void ThreadPool::run(size_t pieces, const Work& work) {
  if (others_.empty() || pieces < 2 || pieces > kMostPieces || forked() || busy_.test_and_set()) {
    for (size_t piece = 0; piece < pieces; ++piece) work(piece, 0);
    return;
  }
  work_ = &work;
  pieces_ = pieces;
  unfinished_ = static_cast<uint32_t>(pieces);
  left_ = kNone + pieces;
  ++calls_;
  take_pieces(0);
  for (uint32_t left; (left = unfinished_) != 0;) wait_for_change(unfinished_, left, spins_);
  const std::exception_ptr failure = std::exchange(failure_, nullptr);
  failed_ = false;
  busy_.clear();
  if (failure) std::rethrow_exception(failure);
}

void ThreadPool::serve(size_t thread) {
  for (uint32_t seen = 0;;) {
    seen = wait_for_change(calls_, seen, spins_);
    if (ends_) return;
    take_pieces(thread);
  }
}

// A thread that comes late may take pieces of the next call, which it then serves.
void ThreadPool::take_pieces(size_t thread) {
  uint32_t done = 0;
  while (left_.load(std::memory_order_relaxed) > kNone) {
    const uint64_t left = left_.fetch_sub(1);
    if (left <= kNone) break;
    if (done++ == 0) wake(left - kNone - 1);
    if (failed_.load(std::memory_order_relaxed)) continue;
    try {
      (*work_)(pieces_ - (left - kNone), thread);
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
  }
  if (done > 0 && unfinished_.fetch_sub(done) == done) unfinished_.notify_one();
}

// Wakes threads for pieces that are left. Threads that wake others reach many soon, and no more of them
// than have work before it is done.
void ThreadPool::wake(size_t pieces) {
  for (size_t i = 0; i < std::min({kWakes, pieces, others_.size()}); ++i) calls_.notify_one();
}

}  // namespace carbon
