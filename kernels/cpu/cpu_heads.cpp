// What the heads compute from one row of logits: marginals of bases, and log-sum-exp.
#include "kernels/cpu/cpu_heads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ops.hpp"

namespace carbon::cpu {
namespace {

using ops::kBases;
using ops::kKmers;
using ops::kLetters;

// A sum of exp(z - maximum) below this may have lost terms that are too small for a float, so it is computed
// again in double.
constexpr double kSmallSum = 1e-30;

/// For every base, sums e over all 6-mers by their letter there. Begins with the last base and continues with
/// the sums of four, so that 4,096 + 1,024 + ... additions are enough for all six bases.
void sum_by_base(const float* e, double sums[kBases][kLetters]) {
  double shorter[kKmers / kLetters];
  double by_letter[kLetters] = {};
  for (size_t i = 0; i < kKmers / kLetters; ++i) {
    const float* const four = e + i * kLetters;
    for (size_t b = 0; b < kLetters; ++b) by_letter[b] += static_cast<double>(four[b]);
    shorter[i] = (static_cast<double>(four[0]) + static_cast<double>(four[1])) +
                 (static_cast<double>(four[2]) + static_cast<double>(four[3]));
  }
  std::copy_n(by_letter, kLetters, sums[kBases - 1]);
  size_t n = kKmers / kLetters;
  for (size_t j = kBases - 1; j-- > 0;) {
    double letters[kLetters] = {};
    for (size_t i = 0; i < n / kLetters; ++i) {
      const double* const four = shorter + i * kLetters;
      for (size_t b = 0; b < kLetters; ++b) letters[b] += four[b];
      // In place, because element i was read before.
      shorter[i] = (four[0] + four[1]) + (four[2] + four[3]);
    }
    std::copy_n(letters, kLetters, sums[j]);
    n /= kLetters;
  }
}

/// ln of the sum of exp(z) over the 6-mers whose base j is letter b, in double, relative to their own
/// maximum.
double group_logsumexp(const float* z, size_t j, size_t b) {
  const size_t shift = 2 * (kBases - 1 - j);
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < kKmers; ++i)
    if (((i >> shift) & 3) == b) largest = std::max(largest, static_cast<double>(z[i]));
  double sum = 0;
  for (size_t i = 0; i < kKmers; ++i)
    if (((i >> shift) & 3) == b) sum += std::exp(static_cast<double>(z[i]) - largest);
  return largest + std::log(sum);
}

}  // namespace

void row_marginals(const Kernels& kernels, const float* z, float* scratch, double* out) {
  const float largest = kernels.finite_max(z, kKmers);
  if (std::isnan(largest)) {
    std::fill_n(out, ops::kMarginals, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  kernels.exp_shifted(z, kKmers, largest, scratch);
  double sums[kBases][kLetters];
  sum_by_base(scratch, sums);
  const double total = std::log((sums[0][0] + sums[0][1]) + (sums[0][2] + sums[0][3]));
  for (size_t j = 0; j < kBases; ++j)
    for (size_t b = 0; b < kLetters; ++b)
      *out++ = sums[j][b] < kSmallSum ? group_logsumexp(z, j, b) - static_cast<double>(largest) - total
                                      : std::log(sums[j][b]) - total;
}

void row_logsumexp(const Kernels& kernels, const float* z, size_t n, float* scratch, double* maximum,
                   double* sum) {
  for (size_t first = 0; first < n; first += kLogsumexpTile) {
    const size_t count = std::min(kLogsumexpTile, n - first);
    const float largest = kernels.finite_max(z + first, count);
    if (std::isnan(largest)) {
      *sum = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    if (static_cast<double>(largest) > *maximum) {
      *sum *= std::exp(*maximum - static_cast<double>(largest));
      *maximum = static_cast<double>(largest);
    }
    kernels.exp_shifted(z + first, count, static_cast<float>(*maximum), scratch);
    double tile = 0;
    for (size_t i = 0; i < count; ++i) tile += static_cast<double>(scratch[i]);
    *sum += tile;
  }
}

}  // namespace carbon::cpu
