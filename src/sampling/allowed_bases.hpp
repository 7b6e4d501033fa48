// Which bases may stand at the six positions of a 6-mer: fixed prompt bases and IUPAC constraints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/draw_math.hpp"

namespace carbon {

/// A set of bases: bit d is the base with digit d (kBaseLetters).
using BaseSet = uint8_t;
inline constexpr BaseSet kAnyBase = 0xF;

/// One set a position of a 6-mer, first base first.
using ops::AllowedBases;
using ops::allows;
inline constexpr AllowedBases kAllAllowed = {kAnyBase, kAnyBase, kAnyBase, kAnyBase, kAnyBase, kAnyBase};

/// The bases that an IUPAC nucleotide code of either case stands for; 0 for any other character, U included
/// (it is no base of the models).
BaseSet iupac_bases(char code);

/// The sets of a text of IUPAC codes. Throws Error(`function`) naming `where`, the position (1-based) and the
/// letter if one of them stands for no base, so that no sequence could satisfy it.
std::vector<BaseSet> parse_constraint(std::string_view text, const std::string& where,
                                      const std::string& function);

}  // namespace carbon
