// The new bases of a generated sequence as tokens: how many tokens they take, and which bases may stand
// where.
//
// A prompt whose length is not a multiple of the bases of a token ends inside one. Its last bases are fixed
// in the first new token; nothing is padded. A token is a k-mer, and named so here.
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
  size_t given = 0;   // bases of the first new k-mer that belong to the prompt, 0 to k - 1
  size_t length = 0;  // new bases
  std::vector<BaseSet>
      sets;                // from the first of the `given` bases on; any base is allowed after the last set
  size_t k = ops::kBases;  // TokenLayout::bases() of the model

  /// Number of new k-mers. The last one may be cut.
  size_t kmers() const { return (given + length + k - 1) / k; }
  /// The bases that may stand in new k-mer `kmer`.
  AllowedBases allowed(size_t kmer) const {
    AllowedBases out = kAllAllowed;
    for (size_t j = 0; j < k && kmer * k + j < sets.size(); ++j) out[j] = sets[kmer * k + j];
    return out;
  }
  /// Bases [first, last) of new k-mer `kmer` are written and counted in the log-probability.
  size_t first(size_t kmer) const { return kmer == 0 ? given : 0; }
  size_t last(size_t kmer) const { return std::min(k, given + length - kmer * k); }
};

}  // namespace carbon
