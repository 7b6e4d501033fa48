// The likeliest 6-mers of a row of logits, with their log-probabilities, and the place of one 6-mer among
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/sampling/allowed_bases.hpp"

namespace carbon {

/// How many of the likeliest 6-mers a row has.
inline constexpr size_t kRanked = 20;
/// A row of ranks: [0] natural log of the probability of the 6-mer asked for, [1] its rank from 1, then for
/// each of the kRanked likeliest 6-mers, the likeliest first, its index and the natural log of its
/// probability. Of equally likely ones the lower index comes first. Without a 6-mer [0] and [1] are 0. If
/// fewer 6-mers are allowed, the index in the last places is -1. Everything is NaN if a logit is not finite.
inline constexpr size_t kRankWidth = 2 + 2 * kRanked;
/// Asks for the likeliest 6-mers alone.
inline constexpr uint32_t kNoKmer = 4096;

/// Fills `out` [kRankWidth] from 4,096 logits in 6-mer order. Probabilities are those among the allowed
/// 6-mers, and, unless it is null, those in `among`, which add up to 1. `kmer` is an allowed 6-mer, or
/// kNoKmer.
void rank_kmers(std::span<const float> logits, const AllowedBases& allowed, uint32_t kmer, double* out,
                const KmerSet* among = nullptr);

}  // namespace carbon
