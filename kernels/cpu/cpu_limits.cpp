#include "kernels/cpu/cpu_limits.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_dispatch.hpp"
#include "src/base/system.hpp"

namespace carbon::cpu {
namespace {

// A vector that every CPU has.
using Vector __attribute__((vector_size(16))) = uint64_t;

// Half of the memory has this many pieces, which are distributed to the threads.
constexpr size_t kPieces = 256, kPiece = MemoryLimits::kBytes / 2 / kPieces;
constexpr size_t kStreams = 4;

// The shortest time of a measurement.
constexpr double kLeastSeconds = 0.2;

// Calls f(thread) once on each thread of the pool, at the same time.
template <class F>
void each_thread(ThreadPool& pool, F f) {
  const auto threads = static_cast<size_t>(pool.size());
  // A thread that waits here takes no second piece.
  std::barrier all(static_cast<ptrdiff_t>(threads));
  pool.run(threads, [&](size_t, size_t thread) {
    all.arrive_and_wait();
    f(thread);
  });
}

// The part [first, second) of a range [0, n) that a thread has.
std::pair<size_t, size_t> share(const ThreadPool& pool, size_t thread, size_t n) {
  const auto threads = static_cast<size_t>(pool.size());
  return {n * thread / threads, n * (thread + 1) / threads};
}

// Bytes per second of f, which reads or writes each byte of the memory once.
template <class F>
double rate(F f) {
  const Stopwatch watch;
  double done = 0, seconds = 0;
  do {
    f();
    done += static_cast<double>(MemoryLimits::kBytes);
    seconds = watch.seconds();
  } while (seconds < kLeastSeconds);
  return done / seconds;
}

// Reads kStreams pieces at the same time, which was faster than one after the other on the machines tried.
uint64_t read_streams(const char* pieces) {
  Vector sums[kStreams] = {};
  for (size_t i = 0; i < kPiece / sizeof(Vector); ++i)
#pragma GCC unroll 4
    for (size_t s = 0; s < kStreams; ++s) sums[s] ^= reinterpret_cast<const Vector*>(pieces + s * kPiece)[i];
  const Vector sum = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
  return sum[0] ^ sum[1];
}

}  // namespace

MemoryLimits::MemoryLimits(int threads) : pool_(threads), memory_(allocate_aligned("memory_limits", kBytes)) {
  // Written by the threads that will read it, so that it is allocated near them. Memory that was never
  // written would be one page of zeros.
  char* const data = static_cast<char*>(memory_.get());
  each_thread(pool_, [&](size_t thread) {
    const auto [begin, end] = share(pool_, thread, 2 * kPieces);
    std::memset(data + begin * kPiece, 1, (end - begin) * kPiece);
  });
}

double MemoryLimits::read_rate() {
  const char* const data = static_cast<const char*>(memory_.get());
  return rate([&] {
    std::atomic<uint64_t> all = 0;
    each_thread(pool_, [&](size_t thread) {
      const auto [begin, end] = share(pool_, thread, 2 * kPieces / kStreams);
      uint64_t mine = 0;
      for (size_t i = begin; i < end; ++i) mine ^= read_streams(data + i * kStreams * kPiece);
      all ^= mine;
    });
    // Stored so that the compiler does not remove the sum as unused.
    const uint64_t sum = all;
    std::memcpy(memory_.get(), &sum, sizeof sum);
  });
}

double MemoryLimits::copy_rate() {
  char* const data = static_cast<char*>(memory_.get());
  return rate([&] {
    each_thread(pool_, [&](size_t thread) {
      const auto [begin, end] = share(pool_, thread, kPieces);
      for (size_t i = begin; i < end; ++i)
        std::memcpy(data + (kPieces + i) * kPiece, data + i * kPiece, kPiece);
    });
  });
}

double multiply_add_rate(WeightType type, int threads) {
  constexpr size_t kRounds = 1 << 16;
  const Kernels& kernels = select_kernels("");
  ThreadPool pool(threads);
  std::vector<double> rates(static_cast<size_t>(threads));
  each_thread(pool, [&](size_t thread) {
    alignas(64) std::array<float, kPeakValues> values;
    // A number that is small enough for sums not to overflow, and not near subnormal numbers. It is also read
    // as a pair of bf16.
    values.fill(0x1.01p-20f);
    double done = 0, seconds = 0;
    const Stopwatch watch;
    do {
      done += 2 * static_cast<double>(kernels.multiply_adds(type, kRounds, values.data()));
      seconds = watch.seconds();
    } while (seconds < kLeastSeconds);
    rates[thread] = done / seconds;
  });
  return std::reduce(rates.begin(), rates.end());
}

}  // namespace carbon::cpu
