// The arithmetic of drawing a 6-mer from logits, which src/sampling and draw() of the backends share, so that
// all draw the same 6-mers. It is in double precision with a fixed order of sums; callers may run parts in
// parallel. And the sets of 6-mers over which the heads sum.
//
// A joint distribution is kept as weights exp(logit - largest) and their sums over prefixes: the levels of 0
// to 6 bases, one after the other. All functions are constexpr so that device code can call them (nvcc allows
// that with --expt-relaxed-constexpr).
#pragma once

#include <limits>

#include "kernels/ops.hpp"
#include "src/base/random.hpp"

namespace carbon::ops {

/// The digit of base j of a k-mer of `bases` bases. Here and below the host may ask for shorter k-mers than
/// those that the operations of a Backend draw.
constexpr size_t base_of(size_t kmer, size_t j, size_t bases = kBases) {
  return kmer >> 2 * (bases - 1 - j) & 3;
}

/// True if every base of `kmer` is allowed at its position.
constexpr bool allows(const AllowedBases& allowed, size_t kmer, size_t bases = kBases) {
  bool all = true;
  for (size_t j = 0; j < bases; ++j) all &= (allowed[j] >> base_of(kmer, j, bases) & 1) != 0;
  return all;
}

// The joint distribution.

/// The offset of the sums of the 4^j prefixes of j bases. The last level is the weights.
constexpr size_t level_offset(size_t j) {
  return ((size_t{1} << 2 * j) - 1) / 3;
}
/// The sum of a prefix, from those of the four prefixes with one more base.
constexpr double sum_of_four(const double* longer) {
  return (longer[0] + longer[1]) + (longer[2] + longer[3]);
}

constexpr double weight(float logit, float largest) {
  return exact_exp(static_cast<double>(logit) - static_cast<double>(largest));
}
constexpr double weight(float logit, float largest, double temperature) {
  return exact_exp((static_cast<double>(logit) - static_cast<double>(largest)) / temperature);
}

/// out[b] is the weight of letter b at base j. `sums` has all levels.
constexpr void marginal_weights(const double* sums, size_t j, double* out) {
  const double* const longer = sums + level_offset(j + 1);
  for (size_t b = 0; b < kLetters; ++b) out[b] = 0;
  for (size_t prefix = 0; prefix < size_t{1} << 2 * j; ++prefix)
    for (size_t b = 0; b < kLetters; ++b) out[b] += longer[prefix * kLetters + b];
}

/// The k-mers of `bases` bases that have the same bases [first, last) as `kmer`, in the order of their
/// indices.
class KmerGroup {
 public:
  constexpr KmerGroup(size_t kmer, size_t first, size_t last, size_t bases = kBases)
      : after_(2 * (bases - last)),
        before_(2 * (bases - first)),
        middle_((kmer & ((size_t{1} << before_) - 1)) >> after_ << after_),
        size_((size_t{1} << 2 * bases >> before_) << after_) {}
  constexpr size_t size() const { return size_; }
  constexpr size_t operator[](size_t i) const {
    return i >> after_ << before_ | middle_ | (i & ((size_t{1} << after_) - 1));
  }

 private:
  size_t after_, before_;  // bits of the bases from `last` and from `first` on
  size_t middle_;
  size_t size_;
};

/// ln of the probability of a group of 6-mers. `sum` is the sum of weight(logit, group_largest) over the
/// group in the order of indices; `total` is that of weight(logit, largest) over all 6-mers.
constexpr double log_share(float group_largest, double sum, float largest, double total) {
  return static_cast<double>(group_largest) - static_cast<double>(largest) +
         (exact_log(sum) - exact_log(total));
}

// Random numbers. A draw has blocks of random bits: first one block per four 6-mers, then one per two bases.

inline constexpr uint32_t kBaseBlocks = kKmers / 4;

constexpr PhiloxBlock noise(const DrawCounter& counter, uint64_t seed, uint32_t block) {
  return philox({counter[0] | block, counter[1], counter[2], counter[3]},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

/// The Gumbel-max trick as a race of exponentials: the 6-mer with the largest ln w + Gumbel noise is the one
/// with the smallest E / w, where E = -ln u. Of equal ones the lowest index wins. Most logarithms need not be
/// computed, because E >= 1 - u, by more than the rounding errors. So the order in which 6-mers enter makes
/// no difference.
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

/// Draws a base from four weights, by inversion of their cumulative sums in the order A, T, C, G. Changes the
/// weights. keep(weights) sets those to zero that top-k and top-p leave out.
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
  return likeliest;  // `uniform` is so close to 1 that, by rounding, the target is not below the last sum
}

/// Draws all bases of a k-mer of `bases` bases and returns it. `sums` has the levels of the joint
/// distribution; `marginals` is [bases, kLetters], or null for the sampler `chain`.
template <class Keep>
constexpr size_t draw_bases(const double* sums, const double* marginals, const DrawOptions& options,
                            const DrawCounter& counter, Keep keep, size_t bases = kBases) {
  size_t kmer = 0;
  PhiloxBlock bits{};
  for (size_t j = 0; j < bases; ++j) {
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
constexpr double log_marginals(const double* marginals, double total, size_t kmer, size_t first, size_t last,
                               size_t bases = kBases) {
  const double log_total = exact_log(total);
  double sum = 0;
  for (size_t j = first; j < last; ++j)
    sum += exact_log(marginals[j * kLetters + base_of(kmer, j, bases)]) - log_total;
  return sum;
}

// Sets of 6-mers that have the same letters at some of their bases, for the heads.

/// The 6-mers k with (k & mask) == bits. Two bits of the mask belong to each base, and both are set or
/// neither.
struct KmerPattern {
  uint32_t mask = 0, bits = 0;  // all 6-mers

  constexpr bool has(uint32_t kmer) const { return (kmer & mask) == bits; }

  /// Those of this pattern whose base j is `letter`. The pattern may not speak of base j before.
  constexpr KmerPattern with(size_t j, uint32_t letter) const {
    const size_t shift = 2 * (kBases - 1 - j);
    return {mask | uint32_t{3} << shift, bits | letter << shift};
  }

  /// Calls f(prefix) for every beginning of j bases that a 6-mer of the pattern has, in ascending order.
  template <class F>
  constexpr void each_prefix(size_t j, F f) const {
    const size_t after = 2 * (kBases - j);
    const uint32_t free = ~(mask >> after) & ((uint32_t{1} << 2 * j) - 1);
    // Counts in the bits of `free` alone: the others are ones while 1 is added, so that a carry passes them.
    uint32_t counter = 0;
    do {
      f(bits >> after | counter);
      counter = ((counter | ~free) + 1) & free;
    } while (counter != 0);
  }
};

/// The 6-mers that begin as `known` says: that have the known letters among the first j bases.
constexpr KmerPattern known_before(KnownBases known, size_t j) {
  KmerPattern pattern;
  for (size_t i = 0; i < j; ++i)
    if (known_letter(known, i) < kLetters) pattern = pattern.with(i, known_letter(known, i));
  return pattern;
}

}  // namespace carbon::ops
