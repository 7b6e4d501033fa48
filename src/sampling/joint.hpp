// The joint distribution over the 4^k tokens of k bases that a row of logits gives, restricted to allowed
// bases and renormalised, its sums over prefixes, and its likeliest k-mers.
//
// The sums over prefixes give the probabilities of single bases: P(b_j | b_<j) is the quotient of two of
// them, and P_j(b) (technical report, eq. S15) is a sum of some. All arithmetic is that of
// kernels/draw_math.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops.hpp"
#include "src/sampling/allowed_bases.hpp"

namespace carbon {

class Joint {
 public:
  /// Takes 4^k logits in the order of indices; their number says what k is. `allowed` must leave at least one
  /// base at each of k positions, and with `among`, unless it is null, at least one token. Returns false if a
  /// logit is not finite; then only assign() may be called.
  [[nodiscard]] bool assign(std::span<const float> logits, const AllowedBases& allowed,
                            const KmerSet* among = nullptr);

  /// The k of the logits.
  size_t bases() const { return bases_; }
  /// The logits; -inf for tokens with a base that is not allowed.
  std::span<const float> logits() const { return logits_; }
  float max_logit() const { return max_; }
  /// exp(logit - max_logit()): the probabilities times total().
  std::span<const double> weights() const { return {level(bases_), logits_.size()}; }
  double total() const { return *level(0); }

  /// The weights of the 4^j prefixes of j bases, 0 <= j <= k, in their order.
  const double* level(size_t j) const { return sums_.data() + ops::level_offset(j); }
  /// All levels, one after the other.
  const double* sums() const { return sums_.data(); }
  /// out[b] = total() * P_j(b), letters in the order A, T, C, G.
  void marginal(size_t j, double* out) const;
  /// ln of the probability that the bases [first, last) are those of `kmer`, which must be allowed. Finite
  /// even if the probability is too small for a double.
  double log_share(size_t kmer, size_t first, size_t last) const;

 private:
  size_t bases_ = 0;
  std::vector<float> logits_;  // [4^k]
  std::vector<double> sums_;
  float max_ = 0;
};

/// How many of the likeliest k-mers a row has.
inline constexpr size_t kRanked = 20;
/// A row of ranks: [0] natural log of the probability of the k-mer asked for, [1] its rank from 1, then for
/// each of the kRanked likeliest k-mers, the likeliest first, its index and the natural log of its
/// probability. Of equally likely ones the lower index comes first. Without a k-mer [0] and [1] are 0. If
/// fewer k-mers are allowed, the index in the last places is -1. Everything is NaN if a logit is not finite.
inline constexpr size_t kRankWidth = 2 + 2 * kRanked;
/// Asks for the likeliest k-mers alone; no k-mer has this index.
inline constexpr uint32_t kNoKmer = ops::kKmers;

/// Fills `out` [kRankWidth] from 4^k logits in the order of indices. Probabilities are those among the
/// allowed k-mers, and, unless it is null, those in `among`, which add up to 1. `kmer` is an allowed k-mer,
/// or kNoKmer.
void rank_kmers(std::span<const float> logits, const AllowedBases& allowed, uint32_t kmer, double* out,
                const KmerSet* among = nullptr);

}  // namespace carbon
