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
using Block __attribute__((vector_size(64))) = uint64_t;

// Half of the memory in so many pieces, which threads share out.
constexpr int64_t kPieces = 256, kPiece = MemoryLimits::kBytes / 2 / kPieces;

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
  const auto* const blocks = static_cast<const Block*>(memory_.get());
  constexpr int64_t kBlocks = kBytes / sizeof(Block);
  return rate([&] {
    uint64_t all = 0;
#pragma omp parallel num_threads(threads_) reduction(^ : all)
    {
      Block sum = {};
#pragma omp for schedule(static)
      for (int64_t i = 0; i < kBlocks; ++i) sum ^= blocks[i];
      for (size_t i = 0; i < sizeof(Block) / sizeof(uint64_t); ++i) all ^= sum[i];
    }
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
