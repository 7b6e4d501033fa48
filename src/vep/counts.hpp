// What a run of `carbon vep` counts, and its summary.
#pragma once

#include <array>
#include <cstdint>

#include "src/base/log.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// Alleles by their flag.
using AlleleCounts = std::array<uint64_t, kAlleleFlags>;

/// `total`, `scored` and `neighbours` (NeighbourCount) count records.
struct VepCounts {
  uint64_t total = 0, scored = 0, neighbours = 0;
  AlleleCounts alleles{};
};

/// Tells the counts to the log: in words those that are not 0, as numbers all.
void print_summary(const VepCounts& counts, Log& log);

}  // namespace carbon
