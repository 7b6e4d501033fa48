// What the heads compute from rows of logits: marginals and conditionals of bases, and log-sum-exp. One block
// per row.
//
// Exponentials are f32; sums are double, in a fixed order. Logits come from linear() in blocks of rows that
// fit the cache of the device.
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/draw_math.hpp"

namespace carbon::cuda {
inline namespace heads_file {

using ops::KmerPattern;

constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kKmers = 4096, kBases = 6, kLetters = 4, kMarginals = kBases * kLetters;
constexpr int kEach = kKmers / kThreads;  // logits of a thread: for all letters of the last two bases
static_assert(kEach == 16);

// A sum of exp(z - largest) below this may have lost terms that are too small for f32, so it is computed
// again in double.
constexpr double kSmallSum = 1e-30;

/// ln of the sum of exp(z) over the 6-mers of a pattern, in double, relative to their own maximum.
__device__ double group_logsumexp(const float* z, const KmerPattern& group) {
  double largest = -INFINITY, sum = 0;
  group.each_prefix(kBases, [&](uint32_t i) { largest = fmax(largest, static_cast<double>(z[i])); });
  group.each_prefix(kBases, [&](uint32_t i) { sum += exp(static_cast<double>(z[i]) - largest); });
  return largest + log(sum);
}

/// ln of the sum of exp(z - shift) over the 6-mers of a pattern; `sum` is that sum of exponentials in f32.
__device__ double log_of_sum(double sum, const float* z, const KmerPattern& group, float shift) {
  return sum < kSmallSum ? group_logsumexp(z, group) - static_cast<double>(shift) : log(sum);
}

struct MarginalScratch {
  double first[kThreads];    // sums over the 6-mers of each value of the first four bases
  double last[8][kThreads];  // the same, for each letter of base 4, then of base 5
  double sums[kMarginals];
  float largest[kWarps], bad[kWarps];
};

__device__ double sum_of_base(const double* letters) {
  return (letters[0] + letters[1]) + (letters[2] + letters[3]);
}

/// Adds up the 16 logits of this thread: those of `group`, and for the letters of base 5 only those of
/// `before_last` too. `largest` becomes the largest of the group. False if a logit of the row is not finite.
__device__ bool sum_letters(const float* z, const KmerPattern& group, const KmerPattern& before_last,
                            MarginalScratch& s, float& largest) {
  const int thread = static_cast<int>(threadIdx.x);
  float value[kEach], top = -INFINITY, bad = 0.0f;
  for (int i = 0; i < kEach; ++i) {
    value[i] = z[thread * kEach + i];
    bad += value[i] - value[i];  // becomes NaN if a logit is not finite
    if (group.has(static_cast<uint32_t>(thread * kEach + i))) top = fmaxf(top, value[i]);
  }
  largest = block_max<kThreads>(top, s.largest);
  if (block_sum<kThreads>(bad, s.bad) != 0.0f) return false;
  double by_letter[8] = {};
  for (int i = 0; i < kEach; ++i) {
    const auto kmer = static_cast<uint32_t>(thread * kEach + i);
    const double e = group.has(kmer) ? static_cast<double>(exp_f32(value[i] - largest)) : 0.0;
    by_letter[i / 4] += e;
    if (before_last.has(kmer)) by_letter[4 + i % 4] += e;
  }
  for (int b = 0; b < 8; ++b) s.last[b][thread] = by_letter[b];
  s.first[thread] = sum_of_base(by_letter);
  __syncthreads();
  return true;
}

/// The sum for base j and letter b over the parts of all threads whose first four bases agree with `given`,
/// which speaks of bases before j alone.
__device__ double collect(const MarginalScratch& s, const KmerPattern& given, int j, int b) {
  const auto has = [](const KmerPattern& wanted, int t) {
    return wanted.has(static_cast<uint32_t>(t * kEach));
  };
  double sum = 0;
  if (j < 4) {
    const KmerPattern wanted = given.with(static_cast<size_t>(j), static_cast<uint32_t>(b));
    for (int t = 0; t < kThreads; ++t)
      if (has(wanted, t)) sum += s.first[t];
  } else {
    for (int t = 0; t < kThreads; ++t)
      if (has(given, t)) sum += s.last[(j - 4) * 4 + b][t];
  }
  return sum;
}

__global__ void __launch_bounds__(kThreads) marginals_kernel(const float* logits, double* out) {
  begin_kernel();
  auto& s = *reinterpret_cast<MarginalScratch*>(shared_memory());
  const float* const z = logits + size_t{blockIdx.x} * kKmers;
  const int thread = static_cast<int>(threadIdx.x), j = thread / 4, b = thread % 4;
  double* const to = out + size_t{blockIdx.x} * kMarginals + thread;
  constexpr KmerPattern kAll;
  float largest;
  if (!sum_letters(z, kAll, kAll, s, largest)) {
    if (thread < kMarginals) *to = NAN;
    return;
  }
  if (thread < kMarginals) s.sums[thread] = collect(s, kAll, j, b);
  __syncthreads();
  if (thread >= kMarginals) return;
  const double total = log(sum_of_base(s.sums));
  *to = log_of_sum(s.sums[thread], z, kAll.with(static_cast<size_t>(j), static_cast<uint32_t>(b)), largest) -
        total;
}

// As on the CPU: while the known letters have sums that are not small, one maximum serves all bases.
// Otherwise the 6-mers that remain are summed again relative to their own maximum. Few rows need that.
__global__ void __launch_bounds__(kThreads)
    conditionals_kernel(const float* logits, const ops::KnownBases* known, double* out) {
  begin_kernel();
  auto& s = *reinterpret_cast<MarginalScratch*>(shared_memory());
  const float* const z = logits + size_t{blockIdx.x} * kKmers;
  const ops::KnownBases bases = known[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), j = thread / 4, b = thread % 4;
  double* const to = out + size_t{blockIdx.x} * kMarginals + thread;
  // Bases [first, next) share a maximum.
  for (int first = 0, next = 0; first < kBases; first = next) {
    float largest;
    if (!sum_letters(z, ops::known_before(bases, static_cast<size_t>(first)),
                     ops::known_before(bases, kBases - 1), s, largest)) {
      if (thread < kMarginals) *to = NAN;
      return;
    }
    if (thread < kMarginals && j >= first)
      s.sums[thread] = collect(s, ops::known_before(bases, static_cast<size_t>(j < 4 ? j : 4)), j, b);
    __syncthreads();
    for (bool small = false; next < kBases && !small; ++next) {
      const uint32_t letter = ops::known_letter(bases, static_cast<size_t>(next));
      small = letter < kLetters && s.sums[next * kLetters + static_cast<int>(letter)] < kSmallSum;
    }
    if (thread < kMarginals && first <= j && j < next) {
      double given = sum_of_base(s.sums + first * kLetters);
      for (int i = first; i < j; ++i) {
        const uint32_t letter = ops::known_letter(bases, static_cast<size_t>(i));
        if (letter < kLetters) given = s.sums[i * kLetters + static_cast<int>(letter)];
      }
      const KmerPattern wanted = ops::known_before(bases, static_cast<size_t>(j))
                                     .with(static_cast<size_t>(j), static_cast<uint32_t>(b));
      *to = log_of_sum(s.sums[thread], z, wanted, largest) - log(given);
    }
    __syncthreads();  // before the next sums overwrite these
  }
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

}  // namespace heads_file

void run_marginals(Stream& stream, const float* logits, size_t n, double* out) {
  launch(marginals_kernel, dim3(static_cast<unsigned>(n)), kThreads, sizeof(MarginalScratch), stream, logits,
         out);
}

void run_conditionals(Stream& stream, const float* logits, const ops::KnownBases* known, size_t n,
                      double* out) {
  launch(conditionals_kernel, dim3(static_cast<unsigned>(n)), kThreads, sizeof(MarginalScratch), stream,
         logits, known, out);
}

void run_logsumexp(Stream& stream, const float* logits, size_t n, size_t columns, const int64_t* targets,
                   double* maximum, double* sum, double* target_logit) {
  launch(logsumexp_kernel, dim3(static_cast<unsigned>(n)), kThreads,
         kWarps * (2 * sizeof(float) + sizeof(double)), stream, logits, columns, targets, maximum, sum,
         target_logit);
}

}  // namespace carbon::cuda
