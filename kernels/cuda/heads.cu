// What the heads compute from rows of logits: marginals of bases, and log-sum-exp. One block per row.
//
// Exponentials are f32; sums are double, in a fixed order. Logits come from linear() in blocks of rows that
// fit the cache of the device.
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kKmers = 4096, kBases = 6, kMarginals = 24;
constexpr int kEach = kKmers / kThreads;  // logits of a thread: for all letters of the last two bases
static_assert(kEach == 16);

// A sum of exp(z - largest) below this may have lost terms that are too small for f32, so it is computed
// again in double.
constexpr double kSmallSum = 1e-30;

/// ln of the sum of exp(z) over the 6-mers whose base j is letter b, in double, relative to their own
/// maximum.
__device__ double group_logsumexp(const float* z, int j, int b) {
  const int shift = 2 * (kBases - 1 - j);
  double largest = -INFINITY, sum = 0;
  for (int i = 0; i < kKmers; ++i)
    if (((i >> shift) & 3) == b) largest = fmax(largest, static_cast<double>(z[i]));
  for (int i = 0; i < kKmers; ++i)
    if (((i >> shift) & 3) == b) sum += exp(static_cast<double>(z[i]) - largest);
  return largest + log(sum);
}

struct MarginalScratch {
  double first[kThreads];    // sums over the 6-mers of each value of the first four bases
  double last[8][kThreads];  // the same, for each letter of base 4, then of base 5
  double sums[kMarginals];
  float largest[kWarps], bad[kWarps];
};

/// Adds the 16 logits of this thread to the sums. False if a logit of the row is not finite.
__device__ bool sum_letters(const float* z, MarginalScratch& s, float& largest) {
  const int thread = static_cast<int>(threadIdx.x);
  float value[kEach], top = -INFINITY, bad = 0.0f;
  for (int i = 0; i < kEach; ++i) {
    value[i] = z[thread * kEach + i];
    top = fmaxf(top, value[i]);
    bad += value[i] - value[i];  // becomes NaN if a logit is not finite
  }
  largest = block_max<kThreads>(top, s.largest);
  if (block_sum<kThreads>(bad, s.bad) != 0.0f) return false;
  double by_letter[8] = {};
  for (int i = 0; i < kEach; ++i) {
    const auto e = static_cast<double>(exp_f32(value[i] - largest));
    by_letter[i / 4] += e;
    by_letter[4 + i % 4] += e;
  }
  for (int b = 0; b < 8; ++b) s.last[b][thread] = by_letter[b];
  s.first[thread] = (by_letter[0] + by_letter[1]) + (by_letter[2] + by_letter[3]);
  __syncthreads();
  return true;
}

/// The sum for base j and letter b over the parts of all threads.
__device__ double collect(const MarginalScratch& s, int j, int b) {
  double sum = 0;
  if (j < 4) {
    const int shift = 2 * (3 - j);
    for (int t = 0; t < kThreads; ++t)
      if (((t >> shift) & 3) == b) sum += s.first[t];
  } else {
    for (int t = 0; t < kThreads; ++t) sum += s.last[(j - 4) * 4 + b][t];
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) marginals_kernel(const float* logits, double* out) {
  begin_kernel();
  auto& s = *reinterpret_cast<MarginalScratch*>(shared_memory());
  const float* const z = logits + size_t{blockIdx.x} * kKmers;
  const int thread = static_cast<int>(threadIdx.x), j = thread / 4, b = thread % 4;
  double* const to = out + size_t{blockIdx.x} * kMarginals + thread;
  float largest;
  if (!sum_letters(z, s, largest)) {
    if (thread < kMarginals) *to = NAN;
    return;
  }
  if (thread < kMarginals) s.sums[thread] = collect(s, j, b);
  __syncthreads();
  if (thread >= kMarginals) return;
  const double total = log((s.sums[0] + s.sums[1]) + (s.sums[2] + s.sums[3]));
  *to = s.sums[thread] < kSmallSum ? group_logsumexp(z, j, b) - static_cast<double>(largest) - total
                                   : log(s.sums[thread]) - total;
}

__global__ void __launch_bounds__(kThreads)
    logsumexp_kernel(const float* logits, size_t columns, const int64_t* targets, double* maximum,
                     double* sum, double* target_logit) {
  begin_kernel();
  float* const largest_of = reinterpret_cast<float*>(shared_memory());  // [kWarps]
  float* const bad_of = largest_of + kWarps;                            // [kWarps]
  double* const sum_of = reinterpret_cast<double*>(bad_of + kWarps);    // [kWarps]
  const size_t row = blockIdx.x;
  const float* const z = logits + row * columns;
  float largest = -INFINITY, bad = 0.0f;
  for (size_t i = threadIdx.x; i < columns; i += kThreads) {
    largest = fmaxf(largest, z[i]);
    bad += z[i] - z[i];  // becomes NaN if a logit is not finite
  }
  largest = block_max<kThreads>(largest, largest_of);
  const bool finite = block_sum<kThreads>(bad, bad_of) == 0.0f;
  const double before = maximum[row], now = fmax(before, static_cast<double>(largest));
  double part = 0;
  if (finite)
    for (size_t i = threadIdx.x; i < columns; i += kThreads)
      part += static_cast<double>(exp_f32(z[i] - static_cast<float>(now)));
  // After its barrier all threads have read maximum[row].
  const double slice = block_sum<kThreads>(part, sum_of);
  if (threadIdx.x != 0) return;
  const int64_t target = targets[row];
  if (target >= 0 && static_cast<size_t>(target) < columns)
    target_logit[row] = static_cast<double>(z[target]);
  if (!finite) {
    sum[row] = NAN;
    return;
  }
  if (now > before) sum[row] *= exp(before - now);
  maximum[row] = now;
  sum[row] += slice;
}

}  // namespace

void run_marginals(Stream& stream, const float* logits, size_t n, double* out) {
  launch(marginals_kernel, dim3(static_cast<unsigned>(n)), kThreads, sizeof(MarginalScratch), stream, logits,
         out);
}

void run_logsumexp(Stream& stream, const float* logits, size_t n, size_t columns, const int64_t* targets,
                   double* maximum, double* sum, double* target_logit) {
  launch(logsumexp_kernel, dim3(static_cast<unsigned>(n)), kThreads,
         kWarps * (2 * sizeof(float) + sizeof(double)), stream, logits, columns, targets, maximum, sum,
         target_logit);
}

}  // namespace carbon::cuda
