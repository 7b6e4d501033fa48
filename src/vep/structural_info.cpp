#include "src/vep/structural_info.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

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

}  // namespace

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

}  // namespace carbon
