// Calls of a contig: its genes or runs on both strands, in coordinates of the contig, with what their
// probabilities say of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/annotate/decoder.hpp"
#include "src/annotate/gene.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/annotate/runs.hpp"

namespace carbon {

struct GeneCall {
  bool reverse = false;
  std::vector<Interval> segments;  // ascending on the contig
  std::vector<double> means = {};  // of the probabilities of each
  double mean = 0, least = 0;      // of all its bases; the smallest of `means`
  bool has_start = true, has_stop = true;
  int phase = 0;  // bases before the first whole codon, in reading direction

  int64_t begin() const { return segments.front().begin; }
  int64_t end() const { return segments.back().end; }
  int64_t coding_bases() const;
  /// Its coding bases in reading direction, in capital letters.
  std::string coding_sequence(std::string_view contig) const;
};

/// Which genes are kept.
struct GeneFilter {
  int64_t min_bases = 60;  // coding
  double min_mean = 0.5;
};

/// Calls are in the order of their first base, then of their last, + before -.
std::vector<GeneCall> call_genes(std::string_view contig, const Probabilities& probabilities,
                                 const GeneRules& rules, const GeneFilter& filter);
std::vector<GeneCall> call_runs(const Probabilities& probabilities, const RunRules& rules);

}  // namespace carbon
