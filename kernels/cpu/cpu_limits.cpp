#include "kernels/cpu/cpu_limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/cpu_dispatch.hpp"

namespace carbon::cpu {
namespace {

using Clock = std::chrono::steady_clock;
// Of every vector unit there is.
using Vector __attribute__((vector_size(16))) = uint64_t;

// Half of the memory in so many pieces, which threads share out.
constexpr int64_t kPieces = 256, kPiece = MemoryLimits::kBytes / 2 / kPieces;
constexpr int64_t kStreams = 4;

// A measurement goes on for so long.
constexpr double kLeastSeconds = 0.2;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// f goes over all of the memory once, reading or writing each byte.
template <class F>
double rate(F f) {
  const Clock::time_point start = Clock::now();
  double done = 0, seconds = 0;
  do {
    f();
    done += static_cast<double>(MemoryLimits::kBytes);
    seconds = seconds_since(start);
  } while (seconds < kLeastSeconds);
  return done / seconds;
}

// Reads kStreams pieces side by side: on the machines tried, faster than one after the other.
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
  // Written by the threads that read it, so that it lies near them; memory never written would be one page
  // of zeros.
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
    // So that the sum is not left out as unused.
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

double multiply_add_rate(DType act_type, int threads) {
  constexpr size_t kRounds = 1 << 16;
  const Kernels& kernels = select_kernels("");
  double rate = 0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
  {
    alignas(64) std::array<float, kPeakValues> values;
    // Read as pairs of bf16 too; small enough that no sum overflows, and far from subnormal numbers.
    values.fill(0x1.01p-20f);
    double done = 0, seconds = 0;
#pragma omp barrier
    const Clock::time_point start = Clock::now();
    do {
      done += 2 * static_cast<double>(kernels.multiply_adds(act_type, kRounds, values.data()));
      seconds = seconds_since(start);
    } while (seconds < kLeastSeconds);
    rate = done / seconds;
  }
  return rate;
}

}  // namespace carbon::cpu
