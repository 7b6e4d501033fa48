// How a 6-mer is drawn from the conditional joint (contract section 6): three samplers, greedy or with
// temperature, top-k and top-p.
//
//   kmer      the joint over 6-mers itself, by the Gumbel-max trick
//   marginal  six independent bases, each from its marginal P_j (the published base-level generation,
//             carbon_model 3.3)
//   chain     base by base from P(b_j | b_<j): the same distribution as kmer at temperature 1, with
//             temperature, top-k and top-p acting on single bases
//
// The noise belongs to the place that is drawn (seed, record, sample, position), not to the model: two models
// that draw at one place use the same noise, and draw the same 6-mer where they are of one mind. That is what
// makes drafting lossless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/sampling/joint.hpp"

namespace carbon {

using SamplerKind = ops::DrawKind;
using SamplerOptions = ops::DrawOptions;

/// What is drawn: 6-mer `position` (0-based, among the new ones) of a sample of a record.
struct DrawPlace {
  uint64_t record = 0;
  uint32_t sample = 0, position = 0;
};

ops::DrawCounter draw_counter(const DrawPlace& place);

/// The index of the 6-mer drawn.
size_t draw_kmer(const Joint& joint, const SamplerOptions& options, const ops::DrawCounter& counter);

/// ops::Backend::draw() of one row on the host; `joint` is scratch.
ops::DrawnKmer draw_on_host(Joint& joint, std::span<const float> logits, const ops::KmerDraw& draw,
                            const SamplerOptions& options);

/// ln of the probability of the bases [first, last) of `kmer` under the sampler's distribution at temperature
/// 1 without top-k and top-p; the other bases are summed over.
double log_probability(const Joint& joint, SamplerKind kind, size_t kmer, size_t first, size_t last);

/// Sets to zero all weights but the top_k largest, then of these all but the largest that reach top_p of
/// their sum. Equal weights: the lower index counts as the larger.
void keep_likeliest(std::span<double> weights, size_t top_k, double top_p);

}  // namespace carbon
