// Which bases are allowed at the positions of a token: those of a prompt, or of a constraint in IUPAC
// codes; and which new tokens a generated sequence has them in.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/draw_math.hpp"

namespace carbon {

/// A set of bases: bit d is set if it contains the base with digit d (the d-th of kBaseLetters).
using BaseSet = uint8_t;
inline constexpr BaseSet kAnyBase = 0xF;

/// One set per position of a token, the first base first. Those after the bases of a token are not looked at.
using ops::AllowedBases;
using ops::allows;
inline constexpr AllowedBases kAllAllowed = {kAnyBase, kAnyBase, kAnyBase, kAnyBase, kAnyBase, kAnyBase};

/// One bit per token, in the order of their indices; as many as the longest tokens have.
using KmerSet = std::bitset<ops::kKmers>;

/// The bases that an IUPAC nucleotide code stands for, in upper or lower case; U is T, as in all sequences
/// that are read (src/formats/fasta.hpp). 0 for any other character.
BaseSet iupac_bases(char code);

/// The sets of a text of IUPAC codes. Throws Error, which names `where`, the position (1-based) and the
/// character, if a character is not an IUPAC code, and if the text is empty. `function` is that of the Error.
std::vector<BaseSet> parse_constraint(std::string_view text, const std::string& where,
                                      const std::string& function);

/// The new bases of a generated sequence as tokens: how many tokens they take, and which bases may stand
/// where.
///
/// A prompt whose length is not a multiple of the bases of a token ends inside one. Its last bases are fixed
/// in the first new token; nothing is padded. A token is a k-mer, and named so here.
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
