#include "src/fns/joint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/util/exact_math.hpp"

namespace carbon {

using ops::kBases;
using ops::kKmers;
using ops::kLetters;

Joint::Joint() : logits_(kKmers), sums_(offset(kBases + 1)) {}

bool Joint::assign(std::span<const float> logits, const AllowedBases& allowed) {
  float sum = 0;
  for (const float z : logits) sum += z - z;  // NaN as soon as one is not finite
  if (sum != 0.0f) return false;
  std::copy(logits.begin(), logits.end(), logits_.begin());
  if (allowed != kAllAllowed)
    for (size_t v = 0; v < kKmers; ++v)
      if (!allows(allowed, v)) logits_[v] = -std::numeric_limits<float>::infinity();
  max_ = *std::max_element(logits_.begin(), logits_.end());

  double* const weights = sums_.data() + offset(kBases);
  for (size_t v = 0; v < kKmers; ++v)
    weights[v] = exact_exp(static_cast<double>(logits_[v]) - static_cast<double>(max_));
  for (size_t j = kBases; j-- > 0;) {
    double* const shorter = sums_.data() + offset(j);
    const double* const longer = level(j + 1);
    const size_t count = size_t{1} << 2 * j;
    for (size_t i = 0; i < count; ++i)
      shorter[i] = (longer[4 * i] + longer[4 * i + 1]) + (longer[4 * i + 2] + longer[4 * i + 3]);
  }
  return true;
}

void Joint::marginal(size_t j, double* out) const {
  const double* const sums = level(j + 1);
  std::fill_n(out, kLetters, 0.0);
  for (size_t prefix = 0; prefix < size_t{1} << 2 * j; ++prefix)
    for (size_t b = 0; b < kLetters; ++b) out[b] += sums[prefix * kLetters + b];
}

double Joint::log_share(size_t kmer, size_t first, size_t last) const {
  const size_t behind = 2 * (kBases - last), before = 2 * (kBases - first);  // bits
  const size_t middle = (kmer & ((size_t{1} << before) - 1)) >> behind;
  // Calls f(logit) for the 6-mers that agree with `kmer` on the bases asked about.
  const auto for_group = [&](auto f) {
    for (size_t prefix = 0; prefix < kKmers >> before; ++prefix)
      for (size_t suffix = 0; suffix < size_t{1} << behind; ++suffix)
        f(logits_[prefix << before | middle << behind | suffix]);
  };
  float largest = logits_[kmer];
  for_group([&](float z) { largest = std::max(largest, z); });
  double sum = 0;
  for_group([&](float z) { sum += exact_exp(static_cast<double>(z) - static_cast<double>(largest)); });
  return static_cast<double>(largest) - static_cast<double>(max_) + (exact_log(sum) - exact_log(total()));
}

}  // namespace carbon
