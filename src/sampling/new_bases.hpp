// The new bases of a generated sequence as 6-mers: how many 6-mers they take, and which bases may stand
// where.
//
// A prompt whose length is not a multiple of 6 ends inside a 6-mer. Its last bases are fixed in the first new
// 6-mer; nothing is padded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/sampling/allowed_bases.hpp"

namespace carbon {

class BoundedBases;  // bounds.hpp

/// Where a growing sequence stands for its bounds.
struct BoundState {
  uint32_t motifs = 0;  // MotifAutomaton::State
  uint32_t gc = 0;      // G and C so far in the window
};

struct NewBases {
  size_t given = 0;   // bases of the first new 6-mer that belong to the prompt, 0 to 5
  size_t length = 0;  // new bases
  std::vector<BaseSet>
      sets;  // from the first of the `given` bases on; any base is allowed after the last set

  /// Number of new 6-mers. The last one may be cut.
  size_t kmers() const { return (given + length + ops::kBases - 1) / ops::kBases; }
  /// The bases that may stand in new 6-mer `kmer`.
  AllowedBases allowed(size_t kmer) const {
    AllowedBases out = kAllAllowed;
    for (size_t j = 0; j < ops::kBases && kmer * ops::kBases + j < sets.size(); ++j)
      out[j] = sets[kmer * ops::kBases + j];
    return out;
  }
  /// Bases [first, last) of new 6-mer `kmer` are written and counted in the log-probability.
  size_t first(size_t kmer) const { return kmer == 0 ? given : 0; }
  size_t last(size_t kmer) const { return std::min(ops::kBases, given + length - kmer * ops::kBases); }
};

}  // namespace carbon
