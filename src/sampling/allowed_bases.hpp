// Which bases are allowed at the positions of a token: those of a prompt, or of a constraint in IUPAC
// codes.
#pragma once

#include <bitset>
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
/// that are read (src/formats/fasta_alphabet.hpp). 0 for any other character.
BaseSet iupac_bases(char code);

/// The sets of a text of IUPAC codes. Throws Error, which names `where`, the position (1-based) and the
/// character, if a character is not an IUPAC code, and if the text is empty. `function` is that of the Error.
std::vector<BaseSet> parse_constraint(std::string_view text, const std::string& where,
                                      const std::string& function);

}  // namespace carbon
