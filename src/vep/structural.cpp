#include "src/vep/structural.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
// Beyond any contig, and exact as an integer; whole numbers above the second may be others in a Float tag.
constexpr double kLongest = 1e15, kExactFloat = 1 << 24;

// None if the text is no number; NaN for a missing one.
std::optional<double> parsed(std::string_view text) {
  if (text == ".") return kMissing;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole_text = problem == std::errc() && end == text.data() + text.size();
  return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::string> words_of(const InfoValues& values) {
  std::vector<std::string> out;
  for (const std::string& text : values.texts) out.push_back(to_upper(text));
  for (const double number : values.numbers)
    out.push_back(std::isnan(number) ? "." : std::to_string(std::llround(number)));
  return out;
}

/// What the INFO column says of one ALT, whatever types the header gives the tags. A tag that is there but
/// cannot be read is never taken for an absent one: the function that was asked for it answers as if it were
/// absent, and readable() is false from then on.
class AlleleInfo {
 public:
  AlleleInfo(const InfoSource& info, size_t alt, size_t alts) : info_(info), alt_(alt), alts_(alts) {}

  bool readable() const { return readable_; }
  /// Whether the tag is there, with a value or alone.
  bool given(const std::string& tag) const;
  /// A flag, also one that has a value: PRECISE=0 says no, PRECISE=. nothing. `absent` is the answer then.
  bool flag(const std::string& tag, bool absent = false);
  /// A word in upper case, of the ALT or of the whole record; "" if there is none.
  std::string word(const std::string& tag);
  /// All words of the record, in upper case.
  std::vector<std::string> words(const std::string& tag) const;
  /// The letters of a sequence in upper case; "" if there is none.
  std::string letters(const std::string& tag);
  /// A whole number of the ALT.
  std::optional<double> number(const std::string& tag);
  /// END, which in a record of several ALTs belongs to an ALT only if each has its own.
  std::optional<double> end();
  /// Whether one of the numbers is not 0, however many there are.
  bool any_nonzero(const std::string& tag);
  /// Of CIPOS=-5,5: 10. Two numbers for the record, or for each ALT.
  double width(const std::string& tag);

 private:
  std::vector<double> numbers(const std::string& tag);
  std::string pick(const std::vector<std::string>& words);
  std::optional<double> pick(const std::vector<double>& numbers);

  const InfoSource& info_;
  size_t alt_, alts_;
  bool readable_ = true;
};

bool AlleleInfo::given(const std::string& tag) const {
  const InfoValues values = info_(tag);
  const std::vector<std::string> words = words_of(values);
  return values.type != InfoType::none &&
         (words.empty() ||
          std::any_of(words.begin(), words.end(), [](const std::string& word) { return word != "."; }));
}

bool AlleleInfo::flag(const std::string& tag, bool absent) {
  const InfoValues values = info_(tag);
  if (values.type == InfoType::none) return absent;
  if (values.texts.empty() && values.numbers.empty()) return true;
  const std::string word = pick(words_of(values));
  for (const char* yes : {"1", "TRUE", "T", "YES", "Y"})
    if (word == yes) return true;
  for (const char* no : {"0", "FALSE", "F", "NO", "N"})
    if (word == no) return false;
  if (!word.empty()) readable_ = false;
  return absent;
}

std::string AlleleInfo::word(const std::string& tag) {
  const InfoValues values = info_(tag);
  return values.type == InfoType::none ? "" : pick(words_of(values));
}

std::vector<std::string> AlleleInfo::words(const std::string& tag) const {
  return words_of(info_(tag));
}

std::string AlleleInfo::letters(const std::string& tag) {
  const InfoValues values = info_(tag);
  if (values.type == InfoType::none) return "";
  // One sequence for several ALTs may be that of any of them.
  if (values.texts.size() != alts_ && given(tag)) readable_ = false;
  const std::string word = pick(words_of(values));
  const bool spelled = std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!spelled) readable_ = false;
  return spelled ? word : "";
}

std::optional<double> AlleleInfo::number(const std::string& tag) {
  return pick(numbers(tag));
}

std::optional<double> AlleleInfo::end() {
  const std::vector<double> ends = numbers("END");
  return ends.size() == 1 && alts_ > 1 ? std::nullopt : pick(ends);
}

bool AlleleInfo::any_nonzero(const std::string& tag) {
  const std::vector<double> all = numbers(tag);
  return std::any_of(all.begin(), all.end(), [](double value) { return !std::isnan(value) && value != 0; });
}

double AlleleInfo::width(const std::string& tag) {
  const std::vector<double> all = numbers(tag);
  if (all.empty()) return 0;
  if (all.size() != 2 && all.size() != 2 * alts_) {
    readable_ = false;
    return 0;
  }
  const size_t first = all.size() == 2 ? 0 : 2 * alt_;
  const double from = all[first], to = all[first + 1];
  // Of this ALT alone. CIPOS=.,. for a record is what htslib makes of letters in a tag of numbers.
  if (alts_ > 1 && all.size() != 2 && std::isnan(from) && std::isnan(to)) return 0;
  if (!(from <= 0 && to >= 0)) readable_ = false;  // no interval around the place, or half of one
  return to - from;
}

// The whole numbers of a tag, NaN for a missing one; empty for a single '.'.
std::vector<double> AlleleInfo::numbers(const std::string& tag) {
  const InfoValues values = info_(tag);
  std::vector<double> out = values.numbers;
  for (const std::string& text : values.texts) {
    const std::optional<double> number = parsed(text);
    if (!number) readable_ = false;
    out.push_back(number.value_or(kMissing));
  }
  if (values.type != InfoType::none && out.empty()) readable_ = false;
  const double largest = values.type == InfoType::real ? kExactFloat : kLongest;
  for (const double value : out)
    if (std::abs(value) > largest || (!std::isnan(value) && value != std::floor(value))) readable_ = false;
  const bool missing = out.size() == 1 && std::isnan(out[0]);
  return missing ? std::vector<double>() : out;
}

std::string AlleleInfo::pick(const std::vector<std::string>& words) {
  if (words.size() != alts_ && words.size() != 1) {
    readable_ = false;
    return "";
  }
  const std::string& word = words[words.size() == alts_ ? alt_ : 0];
  return word == "." ? "" : word;
}

std::optional<double> AlleleInfo::pick(const std::vector<double>& numbers) {
  if (numbers.empty()) return std::nullopt;
  if (numbers.size() != alts_) {
    readable_ = false;
    return std::nullopt;
  }
  return std::isnan(numbers[alt_]) ? std::nullopt : std::optional(numbers[alt_]);
}

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
