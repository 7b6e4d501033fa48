// The true bases of a 6-mer in the form that the conditionals take them.
#pragma once

#include <string_view>

#include "kernels/ops.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The first up to six letters of `bases`. Letters that are not A, C, G or T, in either case, and those that
/// are missing at the end are not known.
inline ops::KnownBases known_bases(std::string_view bases) {
  ops::KnownBases known = ops::kNoneKnown;
  for (size_t j = 0; j < bases.substr(0, ops::kBases).size(); ++j)
    if (const int digit = base_digit(bases[j]); digit >= 0)
      known = ops::with_letter(known, j, static_cast<uint32_t>(digit));
  return known;
}

}  // namespace carbon
