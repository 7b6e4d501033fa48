// The likeliest k-mers of a row of logits, with their log-probabilities, and the place of one k-mer among
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/sampling/allowed_bases.hpp"

namespace carbon {

/// How many of the likeliest k-mers a row has.
inline constexpr size_t kRanked = 20;
/// A row of ranks: [0] natural log of the probability of the k-mer asked for, [1] its rank from 1, then for
/// each of the kRanked likeliest k-mers, the likeliest first, its index and the natural log of its
/// probability. Of equally likely ones the lower index comes first. Without a k-mer [0] and [1] are 0. If
/// fewer k-mers are allowed, the index in the last places is -1. Everything is NaN if a logit is not finite.
inline constexpr size_t kRankWidth = 2 + 2 * kRanked;
/// Asks for the likeliest k-mers alone; no k-mer has this index.
inline constexpr uint32_t kNoKmer = ops::kKmers;

/// Fills `out` [kRankWidth] from 4^k logits in the order of indices. Probabilities are those among the
/// allowed k-mers, and, unless it is null, those in `among`, which add up to 1. `kmer` is an allowed k-mer,
/// or kNoKmer.
void rank_kmers(std::span<const float> logits, const AllowedBases& allowed, uint32_t kmer, double* out,
                const KmerSet* among = nullptr);

}  // namespace carbon
