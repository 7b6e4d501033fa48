// src/sampling/: what the logits of a row say. Of what is allowed there a 6-mer with its log-probability is
// drawn (samplers), and of marginals come the log-probabilities of single bases (base_scores).
//
// It is drawn from the conditional joint distribution (docs/model.md, "Conditional joint" and "Samplers").
// There are three samplers, each greedy or with temperature, top-k and top-p:
//
//   kmer      draws from the joint distribution over 6-mers, by the Gumbel-max trick
//   marginal  draws six independent bases, each from its marginal P_j (the published base-level generation)
//   chain     draws base by base from P(b_j | b_<j). At temperature 1 this is the same distribution as
//             kmer, but temperature, top-k and top-p act on single bases
//
// The random numbers depend on what is drawn (seed, record, sample, position), not on the model. Two models
// that draw the same 6-mer of a sample use the same random numbers, and get the same 6-mer if their
// distributions agree. So a sample drawn with the help of a draft model is exactly the sample drawn without
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/sampling/bounds.hpp"
#include "src/sampling/joint.hpp"

namespace carbon {

using SamplerKind = ops::DrawKind;
inline constexpr Word<SamplerKind> kSamplerWords[] = {
    {"kmer", SamplerKind::kmer}, {"marginal", SamplerKind::marginal}, {"chain", SamplerKind::chain}};
using SamplerOptions = ops::DrawOptions;

/// Throws SettingError for options with which nothing can be drawn.
void check_sampler(const SamplerOptions& options);
SettingList sampler_settings(SamplerOptions& options);

/// Which 6-mer is drawn: the new 6-mer number `position` (0-based) of a sample of a record.
struct DrawPlace {
  uint64_t record = 0;
  uint32_t sample = 0, position = 0;
};

ops::DrawCounter draw_counter(const DrawPlace& place);

/// Draws a 6-mer and returns its index.
size_t draw_kmer(const Joint& joint, const SamplerOptions& options, const ops::DrawCounter& counter);

/// A draw under bounds, which only the host can keep; null: without any.
struct SampleDraw : ops::KmerDraw {
  const BoundedBases* bounds = nullptr;
  BoundState state;     // before the 6-mer
  size_t position = 0;  // which new 6-mer it is, from 0
};

/// What ops::Backend::draw() does for one row, computed on the host. `joint` is scratch memory. If no 6-mer
/// keeps the bounds, nothing is drawn, as if a logit were not finite.
ops::DrawnKmer draw_on_host(Joint& joint, std::span<const float> logits, const SampleDraw& draw);

/// ln of the probability of the bases [first, last) of `kmer` in the distribution of the sampler at
/// temperature 1 without top-k and top-p. The other bases are summed over.
double log_probability(const Joint& joint, SamplerKind kind, size_t kmer, size_t first, size_t last);

/// Keeps the top_k largest weights (all for 0), and of these the largest whose sum reaches top_p of their
/// total (nucleus sampling); sets the others to zero. Of equal weights the one with the lower index counts as
/// larger.
void keep_likeliest(std::span<double> weights, size_t top_k, double top_p);

}  // namespace carbon
