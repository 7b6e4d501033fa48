// The joint distribution over 4,096 6-mers that a row of logits gives, restricted to allowed bases and
// renormalised, and its sums over prefixes.
//
// Sums over prefixes are what makes single bases of a 6-mer speak: P(b_j | b_<j) is a quotient of two of
// them, and P_j(b) (technical report eq. S15) a sum of some. All in the arithmetic of kernels/draw_math.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/ops.hpp"
#include "src/sampling/allowed_bases.hpp"

namespace carbon {

class Joint {
 public:
  Joint();

  /// Takes 4,096 logits in 6-mer order. False, and nothing else of the object may be used, if one of them is
  /// not finite. `allowed` must leave at least one base at every position.
  [[nodiscard]] bool assign(std::span<const float> logits, const AllowedBases& allowed);

  /// Logits, -inf where a base is not allowed.
  std::span<const float> logits() const { return logits_; }
  float max_logit() const { return max_; }
  /// Probabilities up to the factor 1 / total(): exp(logit - max_logit()).
  std::span<const double> weights() const { return {level(ops::kBases), ops::kKmers}; }
  double total() const { return *level(0); }

  /// Weights of the 4^j prefixes of j bases, 0 <= j <= 6, in 6-mer order.
  const double* level(size_t j) const { return sums_.data() + ops::level_offset(j); }
  /// All levels, one behind the other.
  const double* sums() const { return sums_.data(); }
  /// out[b] = total() * P_j(b), letters in the order A, T, C, G.
  void marginal(size_t j, double* out) const;
  /// ln of the probability that the bases [first, last) are those of `kmer`, which is allowed. Finite however
  /// unlikely it is.
  double log_share(size_t kmer, size_t first, size_t last) const;

 private:
  std::vector<float> logits_;  // [4096]
  std::vector<double> sums_;
  float max_ = 0;
};

}  // namespace carbon
