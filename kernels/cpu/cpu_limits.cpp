#include "kernels/cpu/cpu_limits.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/cpu_dispatch.hpp"
#include "src/base/stopwatch.hpp"

namespace carbon::cpu {
namespace {

// A vector that every CPU has.
using Vector __attribute__((vector_size(16))) = uint64_t;

// Half of the memory has this many pieces, which are distributed to the threads.
constexpr int64_t kPieces = 256, kPiece = MemoryLimits::kBytes / 2 / kPieces;
constexpr int64_t kStreams = 4;

// The shortest time of a measurement.
constexpr double kLeastSeconds = 0.2;

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
  for (int64_t i = 0; i < kPiece / static_cast<int64_t>(sizeof(Vector)); ++i)
#pragma GCC unroll 4
    for (int64_t s = 0; s < kStreams; ++s) sums[s] ^= reinterpret_cast<const Vector*>(pieces + s * kPiece)[i];
  const Vector sum = (sums[0] ^ sums[1]) ^ (sums[2] ^ sums[3]);
  return sum[0] ^ sum[1];
}

}  // namespace

MemoryLimits::MemoryLimits(int threads)
    : threads_(threads), memory_(allocate_aligned("memory_limits", kBytes)) {
  // Written by the threads that will read it, so that it is allocated near them. Memory that was never
  // written would be one page of zeros.
  char* const data = static_cast<char*>(memory_.get());
#pragma omp parallel for schedule(static) num_threads(threads_)
  for (int64_t i = 0; i < 2 * kPieces; ++i) std::memset(data + i * kPiece, 1, static_cast<size_t>(kPiece));
}

double MemoryLimits::read_rate() {
  const char* const data = static_cast<const char*>(memory_.get());
  return rate([&] {
    uint64_t all = 0;
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(^ : all)
    for (int64_t i = 0; i < 2 * kPieces; i += kStreams) all ^= read_streams(data + i * kPiece);
    // Stored so that the compiler does not remove the sum as unused.
    std::memcpy(memory_.get(), &all, sizeof all);
  });
}

double MemoryLimits::copy_rate() {
  char* const data = static_cast<char*>(memory_.get());
  return rate([&] {
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int64_t i = 0; i < kPieces; ++i)
      std::memcpy(data + (kPieces + i) * kPiece, data + i * kPiece, static_cast<size_t>(kPiece));
  });
}

double multiply_add_rate(WeightType type, int threads) {
  constexpr size_t kRounds = 1 << 16;
  const Kernels& kernels = select_kernels("");
  double rate = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
  {
    alignas(64) std::array<float, kPeakValues> values;
    // A number that is small enough for sums not to overflow, and not near subnormal numbers. It is also read
    // as a pair of bf16.
    values.fill(0x1.01p-20f);
    double done = 0, seconds = 0;
#pragma omp barrier
    const Stopwatch watch;
    do {
      done += 2 * static_cast<double>(kernels.multiply_adds(type, kRounds, values.data()));
      seconds = watch.seconds();
    } while (seconds < kLeastSeconds);
    rate = done / seconds;
  }
  return rate;
}

}  // namespace carbon::cpu
