// What drawing a 6-mer from logits means, to the bit: the arithmetic that src/sampling and the backends'
// draw() share. Double precision in a fixed order; what of it runs at a time is the caller's choice.
//
// constexpr, so that device code may call it (nvcc's --expt-relaxed-constexpr). A joint distribution is kept
// as weights exp(logit - largest) and their sums over prefixes, levels of 0 to 6 bases one behind the other.
#pragma once

#include <limits>

#include "kernels/ops.hpp"
#include "src/base/exact_math.hpp"
#include "src/base/random.hpp"

namespace carbon::ops {

/// Digit of base j.
constexpr size_t base_of(size_t kmer, size_t j) {
  return kmer >> 2 * (kBases - 1 - j) & 3;
}

/// True if every base of 6-mer `kmer` is allowed at its position.
constexpr bool allows(const AllowedBases& allowed, size_t kmer) {
  bool all = true;
  for (size_t j = 0; j < kBases; ++j) all &= (allowed[j] >> base_of(kmer, j) & 1) != 0;
  return all;
}

// The joint distribution.

/// Where the sums of the 4^j prefixes of j bases begin; level kBases are the weights themselves.
constexpr size_t level_offset(size_t j) {
  return ((size_t{1} << 2 * j) - 1) / 3;
}
/// A sum, from the four of the prefixes with one base more.
constexpr double sum_of_four(const double* longer) {
  return (longer[0] + longer[1]) + (longer[2] + longer[3]);
}

constexpr double weight(float logit, float largest) {
  return exact_exp(static_cast<double>(logit) - static_cast<double>(largest));
}
constexpr double weight(float logit, float largest, double temperature) {
  return exact_exp((static_cast<double>(logit) - static_cast<double>(largest)) / temperature);
}

/// out[b]: the weight of letter b at base j. `sums`: all levels.
constexpr void marginal_weights(const double* sums, size_t j, double* out) {
  const double* const longer = sums + level_offset(j + 1);
  for (size_t b = 0; b < kLetters; ++b) out[b] = 0;
  for (size_t prefix = 0; prefix < size_t{1} << 2 * j; ++prefix)
    for (size_t b = 0; b < kLetters; ++b) out[b] += longer[prefix * kLetters + b];
}

/// The 6-mers that have the bases [first, last) of `kmer`, by index.
class KmerGroup {
 public:
  constexpr KmerGroup(size_t kmer, size_t first, size_t last)
      : behind_(2 * (kBases - last)),
        before_(2 * (kBases - first)),
        middle_((kmer & ((size_t{1} << before_) - 1)) >> behind_ << behind_) {}
  constexpr size_t size() const { return (kKmers >> before_) << behind_; }
  constexpr size_t operator[](size_t i) const {
    return i >> behind_ << before_ | middle_ | (i & ((size_t{1} << behind_) - 1));
  }

 private:
  size_t behind_, before_;  // bits
  size_t middle_;
};

/// ln of a group's share. `sum` is of weight(logit, group_largest) over the group by index, `total` of
/// weight(logit, largest) over all.
constexpr double log_share(float group_largest, double sum, float largest, double total) {
  return static_cast<double>(group_largest) - static_cast<double>(largest) +
         (exact_log(sum) - exact_log(total));
}

// Random numbers: blocks of bits at one place, four 6-mers a block, then two bases a block.

inline constexpr uint32_t kBaseBlocks = kKmers / 4;

constexpr PhiloxBlock noise(const DrawCounter& counter, uint64_t seed, uint32_t block) {
  return philox({counter[0] | block, counter[1], counter[2], counter[3]},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// Gumbel-max as a race of exponentials: the arg max of ln w + Gumbel noise is the arg min of E / w with E =
/// -ln u; ties go to the lowest index. E >= 1 - u, by more than the rounding of either, so most logarithms
/// need not be taken, and who enters in which order makes no difference.
struct Race {
  double best = std::numeric_limits<double>::infinity();
  uint32_t winner = 0;

  constexpr void arrive(double time, uint32_t kmer) {
    if (time > best || (time == best && kmer >= winner)) return;
    best = time;
    winner = kmer;
  }
  constexpr void enter(double weight, double u, uint32_t kmer) {
    if (weight == 0 || 1.0 - u >= best * weight) return;
    arrive(-exact_log(u) / weight, kmer);
  }
};

// Base by base.

constexpr size_t likeliest_base(const double* weights) {
  size_t best = 0;
  for (size_t b = 1; b < kLetters; ++b)
    if (weights[b] > weights[best]) best = b;
  return best;
}

/// One base from four weights, which it changes, by inversion of their cumulative sums in the order A, T, C,
/// G. keep(weights) sets to zero what top-k and top-p leave out.
template <class Keep>
constexpr size_t draw_base(double* weights, const DrawOptions& options, double uniform, Keep keep) {
  const size_t likeliest = likeliest_base(weights);
  if (options.greedy) return likeliest;
  if (options.temperature != 1) {
    const double largest = exact_log(weights[likeliest]);
    for (size_t b = 0; b < kLetters; ++b)
      if (weights[b] > 0) weights[b] = exact_exp((exact_log(weights[b]) - largest) / options.temperature);
  }
  keep(weights);
  const double target = uniform * sum_of_four(weights);
  double sum = 0;
  for (size_t b = 0; b < kLetters; ++b) {
    sum += weights[b];
    if (weights[b] > 0 && target < sum) return b;
  }
  return likeliest;  // the uniform is so near 1 that rounding of the sums has left nothing above it
}

/// All six. `sums`: the levels of the joint distribution; `marginals`: [kBases, kLetters], null for `chain`.
template <class Keep>
constexpr size_t draw_bases(const double* sums, const double* marginals, const DrawOptions& options,
                            const DrawCounter& counter, Keep keep) {
  size_t kmer = 0;
  PhiloxBlock bits{};
  for (size_t j = 0; j < kBases; ++j) {
    if (!options.greedy && j % 2 == 0)
      bits = noise(counter, options.seed, kBaseBlocks + static_cast<uint32_t>(j / 2));
    const double* const from =
        marginals != nullptr ? marginals + j * kLetters : sums + level_offset(j + 1) + kmer * kLetters;
    double weights[kLetters] = {from[0], from[1], from[2], from[3]};
    const size_t word = 2 * (j % 2);
    kmer = kmer * kLetters + draw_base(weights, options, uniform53(bits[word], bits[word + 1]), keep);
  }
  return kmer;
}

/// ln of the product of the marginals of the bases [first, last) of `kmer`.
constexpr double log_marginals(const double* marginals, double total, size_t kmer, size_t first,
                               size_t last) {
  const double log_total = exact_log(total);
  double sum = 0;
  for (size_t j = first; j < last; ++j)
    sum += exact_log(marginals[j * kLetters + base_of(kmer, j)]) - log_total;
  return sum;
}

}  // namespace carbon::ops
