#include "src/fns/samplers.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "src/util/exact_math.hpp"
#include "src/util/random.hpp"

namespace carbon {
namespace {

using ops::kBases;
using ops::kKmers;
using ops::kLetters;

// Blocks of random bits at one place: four 6-mers a block, then two bases a block.
constexpr uint32_t kBaseBlocks = kKmers / 4;

PhiloxBlock noise(const SamplerOptions& options, const DrawPlace& place, uint32_t block) {
  // The upper half of the record number shares a word with the block, which needs 11 bits of it.
  const auto high = static_cast<uint32_t>(place.record >> 32);
  return philox({block | high << 11, place.position, place.sample, static_cast<uint32_t>(place.record)},
                {static_cast<uint32_t>(options.seed), static_cast<uint32_t>(options.seed >> 32)});
}

// Gumbel-max as a race of exponentials: the arg max of ln w + Gumbel noise is the arg min of E / w with E =
// -ln u. E >= 1 - u, so most logarithms need not be taken.
size_t race(std::span<const double> weights, const SamplerOptions& options, const DrawPlace& place) {
  size_t winner = 0;
  double best = std::numeric_limits<double>::infinity();
  for (uint32_t block = 0; block < kBaseBlocks; ++block) {
    const double* const four = weights.data() + size_t{4} * block;
    if (four[0] == 0 && four[1] == 0 && four[2] == 0 && four[3] == 0) continue;
    const PhiloxBlock bits = noise(options, place, block);
    for (size_t i = 0; i < 4; ++i) {
      const double u = uniform32(bits[i]);
      if (four[i] == 0 || 1.0 - u >= best * four[i]) continue;
      const double time = -exact_log(u) / four[i];
      if (time < best) {
        best = time;
        winner = size_t{4} * block + i;
      }
    }
  }
  return winner;
}

size_t draw_joint(const Joint& joint, const SamplerOptions& options, const DrawPlace& place) {
  if (options.greedy) {
    const std::span<const float> z = joint.logits();
    return static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
  }
  if (options.temperature == 1 && options.top_k == 0 && options.top_p == 1)
    return race(joint.weights(), options, place);
  std::array<double, kKmers> weights;
  for (size_t v = 0; v < kKmers; ++v)
    weights[v] = exact_exp((static_cast<double>(joint.logits()[v]) - static_cast<double>(joint.max_logit())) /
                           options.temperature);
  keep_likeliest(weights, options.top_k, options.top_p);
  return race(weights, options, place);
}

// One base from four weights, which it changes, by inversion of their cumulative sums in the order A, T, C,
// G.
size_t draw_base(std::span<double, kLetters> weights, const SamplerOptions& options, double uniform) {
  const size_t likeliest =
      static_cast<size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  if (options.greedy) return likeliest;
  if (options.temperature != 1) {
    const double largest = exact_log(weights[likeliest]);
    for (double& w : weights)
      if (w > 0) w = exact_exp((exact_log(w) - largest) / options.temperature);
  }
  keep_likeliest(weights, options.top_k, options.top_p);
  const double target = uniform * ((weights[0] + weights[1]) + (weights[2] + weights[3]));
  double sum = 0;
  for (size_t b = 0; b < kLetters; ++b) {
    sum += weights[b];
    if (weights[b] > 0 && target < sum) return b;
  }
  return likeliest;  // the uniform is so near 1 that rounding of the sums has left nothing above it
}

size_t draw_bases(const Joint& joint, const SamplerOptions& options, const DrawPlace& place) {
  size_t kmer = 0;
  PhiloxBlock bits{};
  for (size_t j = 0; j < kBases; ++j) {
    if (!options.greedy && j % 2 == 0)
      bits = noise(options, place, kBaseBlocks + static_cast<uint32_t>(j / 2));
    const size_t word = 2 * (j % 2);
    std::array<double, kLetters> weights;
    if (options.kind == SamplerKind::marginal)
      joint.marginal(j, weights.data());
    else
      std::copy_n(joint.level(j + 1) + kmer * kLetters, kLetters, weights.begin());
    kmer = kmer * kLetters + draw_base(weights, options, uniform53(bits[word], bits[word + 1]));
  }
  return kmer;
}

}  // namespace

size_t draw_kmer(const Joint& joint, const SamplerOptions& options, const DrawPlace& place) {
  return options.kind == SamplerKind::kmer ? draw_joint(joint, options, place)
                                           : draw_bases(joint, options, place);
}

double log_probability(const Joint& joint, SamplerKind kind, size_t kmer, size_t first, size_t last) {
  if (kind != SamplerKind::marginal) return joint.log_share(kmer, first, last);
  const double log_total = exact_log(joint.total());
  double sum = 0;
  for (size_t j = first; j < last; ++j) {
    std::array<double, kLetters> weights;
    joint.marginal(j, weights.data());
    sum += exact_log(weights[kmer >> 2 * (kBases - 1 - j) & 3]) - log_total;
  }
  return sum;
}

void keep_likeliest(std::span<double> weights, size_t top_k, double top_p) {
  const size_t n = weights.size();
  const size_t kept = top_k == 0 ? n : std::min(top_k, n);
  if (kept == n && top_p >= 1) return;
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](uint32_t a, uint32_t b) {
    return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
  };
  const auto end = order.begin() + static_cast<ptrdiff_t>(kept);
  if (end != order.end()) std::nth_element(order.begin(), end, order.end(), before);
  size_t last = kept;
  if (top_p < 1) {
    std::sort(order.begin(), end, before);
    double total = 0, sum = 0;
    for (size_t i = 0; i < kept; ++i) total += weights[order[i]];
    for (last = 0; last < kept && sum < top_p * total; ++last) sum += weights[order[last]];
  }
  for (size_t i = last; i < n; ++i) weights[order[i]] = 0;
}

}  // namespace carbon
