// The three SNVs of a base and their values.
#pragma once

#include <array>
#include <string>

#include "src/formats/vcf.hpp"
#include "src/scan/assembler.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The letters other than the base, in alphabetical order, each with CARBON_SCAN as all outputs have it: the
/// Float of a VCF.
struct Alternatives {
  std::array<char, 3> letters{};
  std::array<float, 3> values{};

  explicit Alternatives(const ScannedBase& base) {
    const double reference = base.logp[static_cast<size_t>(base.digit)];
    size_t i = 0;
    for (const char letter : {'A', 'C', 'G', 'T'}) {
      const int digit = base_digit(letter);
      if (digit == base.digit) continue;
      letters[i] = letter;
      values[i] = static_cast<float>(base.logp[static_cast<size_t>(digit)] - reference);
      ++i;
    }
  }
};

}  // namespace carbon
