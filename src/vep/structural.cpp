#include "src/vep/structural.hpp"

#include <algorithm>
#include <cmath>

#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr double kLongest = 1e15;  // beyond any contig, and exact as an integer

std::optional<StructuralAllele::Kind> kind_of(const std::string& alt) {
  if (alt == "<DEL>") return StructuralAllele::deletion;
  if (alt == "<DUP>" || alt == "<DUP:TANDEM>") return StructuralAllele::duplication;
  if (alt == "<INV>") return StructuralAllele::inversion;
  return std::nullopt;
}

// The i-th number of a tag; none if it is missing.
std::optional<double> number(const InfoValues& values, size_t i) {
  if (i >= values.numbers.size() || std::isnan(values.numbers[i])) return std::nullopt;
  return values.numbers[i];
}

// Of CIPOS=-5,5, 10. An interval may be given for each ALT.
double width(const InfoValues& intervals, size_t alt, size_t alts) {
  const size_t first = intervals.numbers.size() == 2 * alts ? 2 * alt : 0;
  const std::optional<double> from = number(intervals, first), to = number(intervals, first + 1);
  return from && to ? *to - *from : 0;
}

int64_t length_of(int64_t pos, size_t alt, size_t alts, const InfoSource& info) {
  const std::optional<double> length = number(info("SVLEN"), alt);
  const std::optional<double> end = alts == 1 ? number(info("END"), 0) : std::nullopt;
  if (end) {
    const double by_end = *end - static_cast<double>(pos + 1);
    if (length && *length != 0 && std::abs(*length) != by_end) return 0;
    return by_end >= 1 && by_end < kLongest ? static_cast<int64_t>(by_end) : 0;
  }
  return length && std::abs(*length) < kLongest ? static_cast<int64_t>(std::abs(*length)) : 0;
}

}  // namespace

std::vector<std::optional<StructuralAllele>> structural_alleles(int64_t pos,
                                                                const std::vector<std::string>& alts,
                                                                const InfoSource& info) {
  std::vector<std::optional<StructuralAllele>> out(alts.size());
  const bool any = std::any_of(alts.begin(), alts.end(), [](const std::string& alt) { return kind_of(alt); });
  if (!any || info("IMPRECISE").type != InfoType::none) return out;
  // Delly's intervals are wider than the repeat, also where it has assembled the breakpoint.
  const bool precise = info("PRECISE").type != InfoType::none;
  for (size_t i = 0; i < alts.size(); ++i) {
    const std::optional<StructuralAllele::Kind> kind = kind_of(alts[i]);
    if (!kind) continue;
    const double open = number(info("HOMLEN"), i).value_or(0);
    const int64_t length = length_of(pos, i, alts.size(), info);
    const bool known = precise || (width(info("CIPOS"), i, alts.size()) <= open &&
                                   width(info("CIEND"), i, alts.size()) <= open);
    if (length >= 1 && known) out[i] = {*kind, length};
  }
  return out;
}

Variant spelled_out(int64_t pos, char base, const StructuralAllele& allele, const std::string& bases) {
  switch (allele.kind) {
    case StructuralAllele::deletion:
      return {pos, base + bases, {std::string(1, base)}};
    case StructuralAllele::duplication:
      return {pos, std::string(1, base), {base + bases}};
    case StructuralAllele::inversion:
      return {pos + 1, bases, {reverse_complement(bases)}};
  }
  return {};
}

}  // namespace carbon
