#include "src/vep/structural.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

using Kind = StructuralAllele::Kind;

std::optional<Kind> kind_of(const std::string& alt) {
  if (alt == "<DEL>") return StructuralAllele::deletion;
  if (alt == "<DUP>" || alt == "<DUP:TANDEM>") return StructuralAllele::duplication;
  if (alt == "<INV>") return StructuralAllele::inversion;
  return std::nullopt;
}

// Of SVTYPE, a word of the caller's own says nothing of the kind; of EVENTTYPE every word does.
bool names_other_kind(const std::string& word, Kind kind, bool own_words) {
  const std::string mine = kind == StructuralAllele::deletion      ? "DEL"
                           : kind == StructuralAllele::duplication ? "DUP"
                                                                   : "INV";
  const bool same = kind == StructuralAllele::duplication ? word == mine || word == "DUP:TANDEM"
                                                          : word == mine || word.starts_with(mine + ":");
  if (word.empty() || same) return false;
  constexpr std::string_view known[] = {"DEL", "DUP", "INV", "INS", "CNV", "BND", "TRA", "CPX", "CTX"};
  return !own_words || std::any_of(std::begin(known), std::end(known),
                                   [&](std::string_view type) { return word.starts_with(type); });
}

// Whether the record speaks of the depth of reads, not of a junction.
bool claims_copies_only(AlleleInfo& info) {
  const std::string claim = info.word("SVCLAIM");
  if (!claim.empty() &&
      (claim.find('J') == std::string::npos || claim.find_first_not_of("DJ") != std::string::npos))
    return true;
  const auto only = [&](const std::string& tag, std::initializer_list<const char*> depth) {
    const std::vector<std::string> words = info.words(tag);
    return !words.empty() && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::find(depth.begin(), depth.end(), word) != depth.end();
    });
  };
  return info.given("REFLEN") || info.given("CNVLEN") || only("EVIDENCE", {"RD", "BAF"}) ||
         only("ALGORITHMS", {"DEPTH"});
}

// The copies of a haplotype: 2 of one tandem duplication. More may stand anywhere.
bool other_copies(AlleleInfo& info, Kind kind) {
  const std::optional<double> copies = info.number("CN");
  if (info.width("CICN") > 0) return true;
  if (!copies) return false;
  if (kind == StructuralAllele::deletion) return *copies < 0 || *copies > 1;
  return kind == StructuralAllele::duplication ? *copies != 2 : *copies < 1 || *copies > 2;
}

// Whether one of the two junctions of the allele is missing, or joins other ends.
bool other_junctions(AlleleInfo& info, Kind kind) {
  const std::string ends = info.word("CT");  // of Delly: one junction
  if (kind != StructuralAllele::inversion)
    return !ends.empty() && ends != (kind == StructuralAllele::deletion ? "3TO5" : "5TO3");
  // Lumpy: ++:4,--:6
  const std::vector<std::string> strands = info.words("STRANDS");
  const auto seen = [&](std::string_view pair) {
    return std::any_of(strands.begin(), strands.end(), [&](const std::string& word) {
      return word.starts_with(pair) && !word.ends_with(":0");
    });
  };
  const bool one_side = info.given("STRANDS") && !(seen("++") && seen("--"));
  return info.flag("INV3") || info.flag("INV5") || !ends.empty() || one_side;
}

// Whether the record says of the allele what its letters would not have.
bool says_more(AlleleInfo& info, Kind kind) {
  for (const char* tag :
       {"LEFT_SVINSSEQ", "RIGHT_SVINSSEQ", "CPX_TYPE", "CPX_INTERVALS", "UNRESOLVED", "UNRESOLVED_TYPE"})
    if (info.given(tag)) return true;
  return names_other_kind(info.word("SVTYPE"), kind, true) ||
         names_other_kind(info.word("EVENTTYPE"), kind, false) || claims_copies_only(info) ||
         other_copies(info, kind) || other_junctions(info, kind);
}

// The bases between the two ends of a deletion or the two copies of a duplication; nothing if they are there
// but not known, or if it is not known where.
std::optional<std::string> inserted_bases(AlleleInfo& info, Kind kind) {
  std::string bases;
  for (const char* tag : {"SVINSSEQ", "INSSEQ", "DUPSVINSSEQ"}) {
    const std::string letters = info.letters(tag);
    if (letters.empty()) continue;
    if (!bases.empty() && letters != bases) return std::nullopt;
    bases = letters;
  }
  for (const char* tag : {"SVINSLEN", "INSLEN", "DUPSVINSLEN"}) {
    const std::optional<double> length = info.number(tag);
    if (length && *length != static_cast<double>(bases.size())) return std::nullopt;
  }
  const bool copies = kind == StructuralAllele::duplication;
  if (!copies && (info.given("DUPSVINSSEQ") || info.any_nonzero("DUPSVINSLEN"))) return std::nullopt;
  if (kind == StructuralAllele::inversion && !bases.empty()) return std::nullopt;
  if (bases.empty() && info.any_nonzero("NTLEN")) return std::nullopt;  // Pindel's bases without letters
  return bases;
}

int64_t length_of(int64_t pos, Kind kind, size_t inserted, AlleleInfo& info) {
  const std::optional<double> end = info.end(), signed_length = info.number("SVLEN");
  const double length = std::abs(signed_length.value_or(0));
  if (!end) return static_cast<int64_t>(length);
  const double by_end = *end - static_cast<double>(pos + 1);
  // SVLEN may also be the difference in length.
  const double change = kind == StructuralAllele::deletion ? -by_end : by_end;
  if (length != 0 && length != by_end && length != std::abs(change + static_cast<double>(inserted))) return 0;
  return static_cast<int64_t>(by_end);
}

bool exactly_placed(AlleleInfo& info) {
  const bool imprecise = info.flag("IMPRECISE"), precise = info.flag("PRECISE"),
             denied = !info.flag("PRECISE", true);
  const double open = info.number("HOMLEN").value_or(0);
  bool closed = info.width("CILEN") <= 0;
  for (const char* tag : {"CIPOS", "CIEND", "CIPOS95", "CIEND95"}) closed &= info.width(tag) <= open;
  // Delly's intervals are wider than the repeat, also where it has assembled the breakpoint.
  return !imprecise && !denied && (precise || closed);
}

std::optional<StructuralAllele> structural_allele(int64_t pos, Kind kind, AlleleInfo info) {
  const bool exact = exactly_placed(info), more = says_more(info, kind);
  const std::optional<std::string> inserted = inserted_bases(info, kind);
  const int64_t length = length_of(pos, kind, inserted ? inserted->size() : 0, info);
  if (!exact || more || !inserted || length < 1 || !info.readable()) return std::nullopt;
  return StructuralAllele{kind, length, *inserted};
}

}  // namespace

std::vector<std::optional<StructuralAllele>> structural_alleles(int64_t pos,
                                                                const std::vector<std::string>& alts,
                                                                const InfoSource& info) {
  std::vector<std::optional<StructuralAllele>> out(alts.size());
  for (size_t i = 0; i < alts.size(); ++i)
    if (const std::optional<Kind> kind = kind_of(alts[i]))
      out[i] = structural_allele(pos, *kind, AlleleInfo(info, i, alts.size()));
  return out;
}

Variant spelled_out(int64_t pos, char base, const StructuralAllele& allele, const std::string& bases) {
  switch (allele.kind) {
    case StructuralAllele::deletion:
      return {pos, base + bases, {base + allele.inserted}};
    case StructuralAllele::duplication:
      return {pos, std::string(1, base), {base + bases + allele.inserted}};
    case StructuralAllele::inversion:
      return {pos + 1, bases, {reverse_complement(bases)}};
  }
  return {};
}

}  // namespace carbon
