// What the heads compute from one row of logits: marginals and conditionals of bases, and log-sum-exp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/cpu_parts.hpp"
#include "kernels/draw_math.hpp"

namespace carbon::cpu {
namespace {

using ops::kBases;
using ops::kKmers;
using ops::kLetters;
using ops::KmerPattern;

// A sum of exp(z - maximum) below this may have lost terms that are too small for a float, so it is computed
// again in double.
constexpr double kSmallSum = 1e-30;

using ops::sum_of_four;
double sum_of_four(const float* e) {
  return (static_cast<double>(e[0]) + static_cast<double>(e[1])) +
         (static_cast<double>(e[2]) + static_cast<double>(e[3]));
}

/// For every base, sums e over all 6-mers by their letter there. Begins with the last base and continues with
/// the sums of four, so that 4,096 + 1,024 + ... additions are enough for all six bases.
void sum_by_base(const float* e, double sums[kBases][kLetters]) {
  double shorter[kKmers / kLetters];
  double by_letter[kLetters] = {};
  for (size_t i = 0; i < kKmers / kLetters; ++i) {
    const float* const four = e + i * kLetters;
    for (size_t b = 0; b < kLetters; ++b) by_letter[b] += static_cast<double>(four[b]);
    shorter[i] = sum_of_four(four);
  }
  std::copy_n(by_letter, kLetters, sums[kBases - 1]);
  size_t n = kKmers / kLetters;
  for (size_t j = kBases - 1; j-- > 0;) {
    double letters[kLetters] = {};
    for (size_t i = 0; i < n / kLetters; ++i) {
      const double* const four = shorter + i * kLetters;
      for (size_t b = 0; b < kLetters; ++b) letters[b] += four[b];
      // In place, because element i was read before.
      shorter[i] = sum_of_four(four);
    }
    std::copy_n(letters, kLetters, sums[j]);
    n /= kLetters;
  }
}

/// ln of the sum of exp(z) over the 6-mers of a pattern, in double, relative to their own maximum.
double group_logsumexp(const float* z, const KmerPattern& group) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  group.each_prefix(kBases, [&](size_t i) { largest = std::max(largest, static_cast<double>(z[i])); });
  group.each_prefix(kBases, [&](size_t i) { sum += std::exp(static_cast<double>(z[i]) - largest); });
  return largest + std::log(sum);
}

/// ln of the sum of exp(z - shift) over the 6-mers of a pattern; `sum` is that sum of exponentials in float.
double log_of_sum(double sum, const float* z, const KmerPattern& group, float shift) {
  return sum < kSmallSum ? group_logsumexp(z, group) - static_cast<double>(shift) : std::log(sum);
}

/// exp(z - shift) of 6-mers, and their sums over the 6-mers that begin with the same 1 to 5 bases.
struct PrefixSums {
  float* weights;                          // [kKmers]
  double sums[ops::level_offset(kBases)];  // level_offset() says where the prefixes of a length begin

  /// Computes the weights of the 6-mers that begin with a prefix of `bases` bases, and the sums of all longer
  /// prefixes among them. A sum has the order of sum_by_base().
  void fill(const Kernels& kernels, const float* z, size_t bases, size_t prefix, float shift) {
    size_t n = kKmers >> 2 * bases, first = prefix * n;
    kernels.exp_shifted(z + first, n, shift, weights + first);
    for (size_t level = kBases - 1; level > bases; --level) {
      n /= kLetters;
      first /= kLetters;
      double* const shorter = sums + ops::level_offset(level) + first;
      if (level == kBases - 1) {
        for (size_t i = 0; i < n; ++i) shorter[i] = sum_of_four(weights + (first + i) * kLetters);
      } else {
        const double* const longer = sums + ops::level_offset(level + 1) + first * kLetters;
        for (size_t i = 0; i < n; ++i) shorter[i] = sum_of_four(longer + i * kLetters);
      }
    }
  }

  /// Adds to to[b] the sum of the prefix that has `bases` bases, those of `prefix`, and then letter b.
  void add_letters(size_t bases, size_t prefix, double* to) const {
    const size_t first = prefix * kLetters;
    for (size_t b = 0; b < kLetters; ++b)
      to[b] += bases == kBases - 1 ? static_cast<double>(weights[first + b])
                                   : sums[ops::level_offset(bases + 1) + first + b];
  }
};

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
  const double total = std::log(sum_of_four(sums[0]));
  for (size_t j = 0; j < kBases; ++j)
    for (size_t b = 0; b < kLetters; ++b)
      *out++ = log_of_sum(sums[j][b], z, KmerPattern().with(j, static_cast<uint32_t>(b)), largest) - total;
}

// The 6-mers that agree with the known letters before base j are those of some prefixes of j bases, of one if
// all letters are known. Their probabilities may be tiny. So when a known letter has a small sum, the 6-mers
// that remain get new weights, relative to their own maximum.
void row_conditionals(const Kernels& kernels, const float* z, ops::KnownBases known, float* scratch,
                      double* out) {
  float shift = kernels.finite_max(z, kKmers);
  if (std::isnan(shift)) {
    std::fill_n(out, ops::kMarginals, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  PrefixSums weights;
  weights.weights = scratch;
  KmerPattern given;     // the known letters before base j
  double log_given = 0;  // ln of the sum of exp(z - shift) over its 6-mers
  bool renew = true;
  for (size_t j = 0; j < kBases; ++j) {
    if (renew && j > 0) {
      const size_t n = kKmers >> 2 * j;
      shift = -std::numeric_limits<float>::infinity();
      given.each_prefix(j, [&](size_t p) { shift = std::max(shift, kernels.finite_max(z + p * n, n)); });
    }
    if (renew) given.each_prefix(j, [&](size_t p) { weights.fill(kernels, z, j, p, shift); });
    double sums[kLetters] = {}, logs[kLetters];
    given.each_prefix(j, [&](size_t p) { weights.add_letters(j, p, sums); });
    if (renew) log_given = std::log(sum_of_four(sums));
    for (uint32_t b = 0; b < kLetters; ++b) {
      logs[b] = log_of_sum(sums[b], z, given.with(j, b), shift);
      *out++ = logs[b] - log_given;
    }
    const uint32_t letter = ops::known_letter(known, j);
    renew = letter < kLetters && sums[letter] < kSmallSum;
    if (letter >= kLetters) continue;
    given = given.with(j, letter);
    log_given = logs[letter];
  }
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
