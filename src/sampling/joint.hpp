// The joint distribution over the 4^k tokens of k bases that a row of logits gives, restricted to allowed
// bases and renormalised, and its sums over prefixes.
//
// The sums over prefixes give the probabilities of single bases: P(b_j | b_<j) is the quotient of two of
// them, and P_j(b) (technical report, eq. S15) is a sum of some. All arithmetic is that of
// kernels/draw_math.hpp.
#pragma once

#include <cstddef>
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

}  // namespace carbon
