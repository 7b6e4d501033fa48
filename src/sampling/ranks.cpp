#include "src/sampling/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/sampling/joint.hpp"

namespace carbon {

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
