#include "src/sampling/joint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace carbon {

bool Joint::assign(std::span<const float> logits, const AllowedBases& allowed, const KmerSet* among) {
  float sum = 0;
  for (const float z : logits) sum += z - z;  // becomes NaN if a logit is not finite
  if (sum != 0.0f) return false;
  bases_ = static_cast<size_t>(std::countr_zero(logits.size())) / 2;
  logits_.assign(logits.begin(), logits.end());
  sums_.resize(ops::level_offset(bases_ + 1));
  constexpr float never = -std::numeric_limits<float>::infinity();
  if (allowed != kAllAllowed)
    for (size_t v = 0; v < logits_.size(); ++v)
      if (!allows(allowed, v, bases_)) logits_[v] = never;
  if (among != nullptr)
    for (size_t v = 0; v < logits_.size(); ++v)
      if (!among->test(v)) logits_[v] = never;
  max_ = *std::max_element(logits_.begin(), logits_.end());

  double* const weights = sums_.data() + ops::level_offset(bases_);
  for (size_t v = 0; v < logits_.size(); ++v) weights[v] = ops::weight(logits_[v], max_);
  for (size_t j = bases_; j-- > 0;) {
    double* const shorter = sums_.data() + ops::level_offset(j);
    const double* const longer = level(j + 1);
    const size_t count = size_t{1} << 2 * j;
    for (size_t i = 0; i < count; ++i) shorter[i] = ops::sum_of_four(longer + 4 * i);
  }
  return true;
}

void Joint::marginal(size_t j, double* out) const {
  ops::marginal_weights(sums(), j, out);
}

double Joint::log_share(size_t kmer, size_t first, size_t last) const {
  const ops::KmerGroup group(kmer, first, last, bases_);
  float largest = logits_[kmer];
  for (size_t i = 0; i < group.size(); ++i) largest = std::max(largest, logits_[group[i]]);
  double sum = 0;
  for (size_t i = 0; i < group.size(); ++i) sum += ops::weight(logits_[group[i]], largest);
  return ops::log_share(largest, sum, max_, total());
}

void rank_kmers(std::span<const float> logits, const AllowedBases& allowed, uint32_t kmer, double* out,
                const KmerSet* among) {
  std::fill_n(out, kRankWidth, std::numeric_limits<double>::quiet_NaN());
  Joint joint;
  if (!joint.assign(logits, allowed, among)) return;
  std::fill_n(out, kRankWidth, 0.0);
  const std::span<const float> kept = joint.logits();
  const auto before = [&](uint32_t a, uint32_t b) { return kept[a] != kept[b] ? kept[a] > kept[b] : a < b; };
  std::vector<uint32_t> order(kept.size());
  std::iota(order.begin(), order.end(), 0U);
  const size_t ranked = std::min(kRanked, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(ranked), order.end(), before);
  for (size_t i = 0; i < kRanked; ++i) {
    const bool possible = i < ranked && std::isfinite(kept[order[i]]);
    out[2 + 2 * i] = possible ? order[i] : -1.0;
    if (possible) out[3 + 2 * i] = joint.log_share(order[i], 0, joint.bases());
  }
  if (kmer == kNoKmer) return;
  out[0] = joint.log_share(kmer, 0, joint.bases());
  size_t rank = 1;
  for (uint32_t v = 0; v < kept.size(); ++v) rank += before(v, kmer) ? 1 : 0;
  out[1] = static_cast<double>(rank);
}

}  // namespace carbon
