// Which alleles of a file lie on one haplotype: what an allele changes, and which genotypes are in phase. For
// everybody who reads genotypes: plugins as well, so that it stands alone.
//
// A genotype is what a record says of a sample: for each allele its number (0 is the reference), and whether
// it is phased.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace carbon {

/// In place of a number: the allele is missing (`.`); the sample has fewer alleles than others.
inline constexpr int32_t kMissingAllele = -1, kNoAllele = -2;

/// Bases [begin, end) of a contig are replaced by others. An insertion has begin = end.
struct ChangedBases {
  int64_t begin = 0, end = 0;
  std::string_view inserted;  // a part of ALT, in the letters of the record
};

/// Whether all letters are A, C, G or T, in upper or lower case, and there is one.
inline bool is_acgt(std::string_view allele) {
  return !allele.empty() && allele.find_first_not_of("ACGTacgt") == std::string_view::npos;
}

/// What an ALT of a record changes: REF and ALT without the ends that they share, first the right ends, then
/// the left ones. Nothing if ALT is not of A, C, G and T, or equals REF. `pos` is 0-based.
inline std::optional<ChangedBases> changed_bases(int64_t pos, std::string_view ref, std::string_view alt) {
  if (!is_acgt(alt)) return std::nullopt;
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  int64_t end = pos + static_cast<int64_t>(ref.size());
  while (!ref.empty() && !alt.empty() && same(ref.back(), alt.back())) {
    ref.remove_suffix(1);
    alt.remove_suffix(1);
    --end;
  }
  while (!ref.empty() && !alt.empty() && same(ref.front(), alt.front())) {
    ref.remove_prefix(1);
    alt.remove_prefix(1);
    ++pos;
  }
  if (ref.empty() && alt.empty()) return std::nullopt;
  return ChangedBases{pos, end, alt};
}

/// With which other genotypes of the same sample a genotype is in phase.
struct GenotypePhase {
  enum Kind {
    with_all,  // haploid, or all alleles are equal
    in_set,    // all alleles are phased: with others of the same set
    unphased   // with genotypes of the first kind alone
  };
  Kind kind = with_all;
  std::string set;  // PS as in the file; "" where there is none

  bool in_phase(const GenotypePhase& other) const {
    if (kind == with_all || other.kind == with_all) return true;
    return kind == in_set && other.kind == in_set && set == other.set;
  }
};

/// `alleles` has the alleles that the sample has. `phased` says so of each.
inline GenotypePhase genotype_phase(std::span<const int32_t> alleles, std::span<const uint8_t> phased,
                                    std::string_view set) {
  const auto equals_first = [&](int32_t allele) { return allele == alleles[0]; };
  if (alleles.size() < 2 || std::all_of(alleles.begin(), alleles.end(), equals_first)) return {};
  if (std::find(phased.begin(), phased.end(), 0) != phased.end()) return {GenotypePhase::unphased, ""};
  return {GenotypePhase::in_set, std::string(set)};
}

}  // namespace carbon
