// The type of an allele by its letters, for strata and tables and, with the lengths of insertions and
// deletions, for what `carbon +rank` compares a score with; and the bin of a score there. The histograms of
// scan and vep and the plugin that reads them share these definitions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace carbon {

/// SNV, MNV, INS, DEL, complex (bases become other bases of another number), or other (no bases, or no
/// change). Expects upper case.
inline const char* allele_type(std::string ref, std::string alt) {
  for (const std::string* text : {&ref, &alt})
    if (text->empty() || text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos)
      return "other";
  while (!ref.empty() && !alt.empty() && ref.back() == alt.back()) ref.pop_back(), alt.pop_back();
  size_t same = 0;
  while (same < ref.size() && same < alt.size() && ref[same] == alt[same]) ++same;
  const size_t removed = ref.size() - same, inserted = alt.size() - same;
  if (removed == inserted) return removed == 0 ? "other" : removed == 1 ? "SNV" : "MNV";
  return removed == 0 ? "INS" : inserted == 0 ? "DEL" : "complex";
}

/// floor(100 * score) of a score as a VCF or a table has it, so that a score that went through text stays in
/// its bin. Scores beyond 1e13 share a bin: no model has them, but an INFO column may.
inline int64_t histogram_bin(std::string_view printed) {
  constexpr double limit = 1e15;
  double score = 0;
  std::from_chars(printed.data(), printed.data() + printed.size(), score);
  return static_cast<int64_t>(std::clamp(std::floor(100 * score), -limit, limit));
}

/// The types of alleles. Insertions and deletions have one for each range of lengths, as their scores grow
/// with the length.
inline constexpr const char* kRankTypes[] = {"snv",       "mnv",       "ins:1",     "ins:2",     "ins:3",
                                             "ins:4-6",   "ins:7-12",  "ins:13-24", "ins:25-48", "ins:49+",
                                             "del:1",     "del:2",     "del:3",     "del:4-6",   "del:7-12",
                                             "del:13-24", "del:25-48", "del:49+",   "other"};
inline constexpr size_t kRankTypeCount = std::size(kRankTypes);
inline constexpr size_t kTypeSnv = 0, kTypeMnv = 1, kTypeInsertion = 2, kTypeDeletion = 10, kTypeOther = 18;

/// Whether an index of kRankTypes is that of an insertion or a deletion.
inline bool is_indel(size_t type) {
  return type >= kTypeInsertion && type < kTypeOther;
}

/// How far the type of this many inserted or deleted bases, at least 1, is behind that of one base.
inline size_t length_range(int64_t bases) {
  constexpr int64_t least[] = {1, 2, 3, 4, 7, 13, 25, 49};
  return static_cast<size_t>(std::upper_bound(std::begin(least), std::end(least), bases) -
                             std::begin(least)) -
         1;
}

/// The index among kRankTypes of an allele that is spelled out, by what remains without the bases that both
/// alleles begin or end with; none if a letter is not A, C, G or T. Expects upper case. An allele that equals
/// the reference is of type other.
inline std::optional<size_t> rank_type(std::string_view ref, std::string_view alt) {
  for (const std::string_view bases : {ref, alt})
    if (bases.empty() || bases.find_first_not_of("ACGT") != std::string_view::npos) return std::nullopt;
  while (!ref.empty() && !alt.empty() && ref.back() == alt.back()) ref.remove_suffix(1), alt.remove_suffix(1);
  while (!ref.empty() && !alt.empty() && ref[0] == alt[0]) ref.remove_prefix(1), alt.remove_prefix(1);
  if (ref.size() == alt.size()) return ref.empty() ? kTypeOther : ref.size() == 1 ? kTypeSnv : kTypeMnv;
  if (ref.empty()) return kTypeInsertion + length_range(static_cast<int64_t>(alt.size()));
  if (alt.empty()) return kTypeDeletion + length_range(static_cast<int64_t>(ref.size()));
  return kTypeOther;
}

/// The same of an allele that is named, upper-case, and changes `length` bases: <DEL> is a deletion, <DUP>
/// and <DUP:TANDEM> are insertions, <INV> is an mnv. None for other names, and without a length.
inline std::optional<size_t> named_rank_type(std::string_view alt, int64_t length) {
  if (length < 1) return std::nullopt;
  if (alt == "<DEL>") return kTypeDeletion + length_range(length);
  if (alt == "<DUP>" || alt == "<DUP:TANDEM>") return kTypeInsertion + length_range(length);
  if (alt == "<INV>") return kTypeMnv;
  return std::nullopt;
}

}  // namespace carbon
