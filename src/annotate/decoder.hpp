// The best set of genes of one strand, exactly: docs/recipes.md, "Genes", says what a gene is and what it
// scores.
//
// Scores are whole numbers of 2^-16 nats in 64 bits, so that no order of sums changes them: 2^32 bases of 10
// nats each, and a million nats of costs for each gene, stay far below 2^63.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/annotate/gene.hpp"

namespace carbon {

/// What a set of genes has to obey, and what it costs, in nats.
struct GeneRules {
  int code = 1;
  std::string starts = "ATG";  // with commas
  bool introns = true;
  int64_t min_intron = 20, max_intron = 0;  // bases; max 0: no limit
  double gene_cost = 10, intron_cost = 10;
};

inline constexpr double kGcIntronCost = 5, kMissingEndCost = 10, kMostLogOdds = 10;
/// The shortest and the longest lower limit of the length of an intron: GT and AG must have room.
inline constexpr int64_t kLeastMinIntron = 4, kMostMinIntron = 1000;
inline constexpr int64_t kLeastGap = 10;
inline constexpr double kMostCost = 1e6;
/// How often the decoder keeps its state.
inline constexpr int64_t kCheckpointBases = int64_t{1} << 18;

/// What a number of nats is in whole units of 2^-16, halves to even.
int64_t score_units(double nats);
/// ln(P / (1 - P)), at most 10 and at least -10, in these units.
int64_t log_odds_units(float probability);

/// The gaps of a contig: 10 or more letters in a row that are none of A, C, G and T.
std::vector<Interval> gaps_of(std::string_view contig);

/// One strand of a contig. Everything here is in the coordinates of the contig.
struct CodingStrand {
  std::string_view contig;
  const std::vector<Interval>& gaps;  // gaps_of(contig)
  bool reverse = false;
  /// Reads the probabilities of the bases from `begin` on, of this strand.
  std::function<void(int64_t begin, std::span<float> values)> read;
};

struct DecodedStrand {
  std::vector<DecodedGene> genes;  // in reading direction
  int64_t score = 0;               // in units of 2^-16 nats
};

/// The set of genes with the highest total score. Of several such sets it is one of which no gene could be
/// left out at the same score.
///
/// Memory: a state each `spacing` bases, of about 6 kB unless --max-intron is long, and 4 bytes for each base
/// of one such block. Where states are large, because introns of very many lengths are possible, they are
/// kept less often, so that they need no more than about a byte for each base.
DecodedStrand decode_strand(const CodingStrand& strand, const GeneRules& rules,
                            int64_t spacing = kCheckpointBases);

}  // namespace carbon
