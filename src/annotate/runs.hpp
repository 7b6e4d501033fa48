// Runs of coding bases as the makers of the GENERanno models clean them up (their script cds_annotation.py):
// the ends of each run move to the steepest step nearby, short gaps are filled, and short runs are dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/annotate/gene.hpp"

namespace carbon {

/// In bases. These are the makers' values for eukaryotes.
struct RunRules {
  int64_t outward = 128, inward = 0;  // how far an end may move
  int64_t stop_run = 0;               // the search ends after so many low bases in a row; 0: never
  double stop_ratio = 0.3;            // low is at most this share of the probability at the run's own end
  int64_t min_run = 4, min_gap = 4;
};
inline constexpr RunRules kProkaryoteRuns = {.stop_run = 4, .min_gap = 1};

/// The runs of a strand of `bases` bases in ascending order, in coordinates of the contig; `read` gives its
/// probabilities, also of bases that it has given before. A base is coding if its probability is above 0.5.
std::vector<Interval> coding_runs(int64_t bases,
                                  const std::function<void(int64_t begin, std::span<float> values)>& read,
                                  const RunRules& rules);

}  // namespace carbon
