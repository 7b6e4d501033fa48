#include "src/sampling/samplers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/base/numbers.hpp"
#include "src/base/settings.hpp"

namespace carbon {
namespace {

using ops::kLetters;

size_t race(std::span<const double> weights, const SamplerOptions& options, const ops::DrawCounter& counter) {
  ops::Race race;
  for (uint32_t block = 0; block < weights.size() / 4; ++block) {
    const double* const four = weights.data() + size_t{4} * block;
    if (four[0] == 0 && four[1] == 0 && four[2] == 0 && four[3] == 0) continue;
    const PhiloxBlock bits = ops::noise(counter, options.seed, block);
    for (uint32_t i = 0; i < 4; ++i) race.enter(four[i], uniform32(bits[i]), 4 * block + i);
  }
  return race.winner;
}

size_t draw_joint(const Joint& joint, const SamplerOptions& options, const ops::DrawCounter& counter) {
  if (options.greedy) {
    const std::span<const float> z = joint.logits();
    return static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
  }
  if (options.temperature == 1 && options.top_k == 0 && options.top_p == 1)
    return race(joint.weights(), options, counter);
  std::vector<double> weights(joint.logits().size());
  for (size_t v = 0; v < weights.size(); ++v)
    weights[v] = ops::weight(joint.logits()[v], joint.max_logit(), options.temperature);
  keep_likeliest(weights, options.top_k, options.top_p);
  return race(weights, options, counter);
}

using Marginals = std::array<double, ops::kMarginals>;  // of the first Joint::bases() bases

Marginals marginals_of(const Joint& joint) {
  Marginals marginals;
  for (size_t j = 0; j < joint.bases(); ++j) joint.marginal(j, marginals.data() + j * kLetters);
  return marginals;
}

size_t draw_by_base(const Joint& joint, const SamplerOptions& options, const ops::DrawCounter& counter) {
  const auto keep = [&](double* weights) {
    keep_likeliest({weights, kLetters}, options.top_k, options.top_p);
  };
  if (options.kind == SamplerKind::chain)
    return ops::draw_bases(joint.sums(), nullptr, options, counter, keep, joint.bases());
  return ops::draw_bases(joint.sums(), marginals_of(joint).data(), options, counter, keep, joint.bases());
}

}  // namespace

size_t draw_kmer(const Joint& joint, const SamplerOptions& options, const ops::DrawCounter& counter) {
  return options.kind == SamplerKind::kmer ? draw_joint(joint, options, counter)
                                           : draw_by_base(joint, options, counter);
}

void check_sampler(const SamplerOptions& options) {
  const auto shown = [](double value) {
    std::string text;
    append_general(value, 6, text);
    return text;
  };
  if (!(options.temperature > 0) || !std::isfinite(options.temperature))
    throw SettingError("sampler", "temperature",
                       "temperature " + shown(options.temperature) +
                           ": expected a number above 0; greedy takes the likeliest");
  if (!(options.top_p > 0 && options.top_p <= 1))
    throw SettingError("sampler", "top-p",
                       "top-p " + shown(options.top_p) + ": expected a number above 0 and up to 1");
  if (options.kind != SamplerKind::kmer && options.top_k > kLetters)
    throw SettingError("sampler", "top-k",
                       "top-k " + std::to_string(options.top_k) +
                           ": the samplers marginal and chain choose among 4 bases; give 1 to 4, or "
                           "use sampler kmer");
}

SettingList sampler_settings(SamplerOptions& options) {
  return {
      Setting("sampler", "NAME",
              "how to draw: kmer (whole 6-mers; default), marginal (six independent bases) or chain (one "
              "base after "
              "the other)",
              options.kind, kSamplerWords),
      Setting("greedy", "take the most likely 6-mer or base instead of drawing a sample", options.greedy),
      Setting("temperature", "FLOAT", "sampling temperature, above 0", &options.temperature)
          .letter_is('T')
          .shows_default()
          .excludes("greedy"),
      Setting("top-k", "INT", "sample only from the INT most likely 6-mers (with marginal and chain: bases)",
              &options.top_k)
          .range(1, ops::kKmers)
          .excludes("greedy"),
      Setting("top-p", "FLOAT",
              "sample only from the most likely choices whose probabilities add up to P (nucleus sampling)",
              &options.top_p)
          .excludes("greedy"),
      Setting("seed", "INT", "seed of the random number generator", &options.seed).shows_default()};
}

ops::DrawCounter draw_counter(const DrawPlace& place) {
  // The upper half of the record number shares a word with the number of a block of noise, which needs 11
  // bits.
  return {static_cast<uint32_t>(place.record >> 32) << 11, place.position, place.sample,
          static_cast<uint32_t>(place.record)};
}

ops::DrawnKmer draw_on_host(Joint& joint, std::span<const float> logits, const SampleDraw& draw) {
  if (draw.bounds != nullptr) {
    const KmerSet among = draw.bounds->allowed(draw.state, draw.position);
    if (among.none() || !joint.assign(logits, draw.allowed, &among)) return {};
  } else if (!joint.assign(logits, draw.allowed)) {
    return {};
  }
  const SamplerOptions& options = draw.options;
  const size_t kmer = draw_kmer(joint, options, draw.counter);
  return {log_probability(joint, options.kind, kmer, draw.first, draw.last), static_cast<uint32_t>(kmer), 1};
}

double log_probability(const Joint& joint, SamplerKind kind, size_t kmer, size_t first, size_t last) {
  if (kind != SamplerKind::marginal) return joint.log_share(kmer, first, last);
  return ops::log_marginals(marginals_of(joint).data(), joint.total(), kmer, first, last, joint.bases());
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
