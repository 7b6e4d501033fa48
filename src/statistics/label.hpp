// What an allele's label says: an expression that +auroc, +concord and the report take, judged on the values
// of an INFO tag; and what to say of a score that speaks for the other class.
//
// Knows neither records nor scores.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/numbers.hpp"

namespace carbon {

/// What is wrong with an expression, and what would be right; whoever catches it says where it comes from.
struct LabelError {
  std::string reason;
};

/// The types of a tag that can be asked.
enum class LabelType { flag, integer, real, text };

struct Verdict {
  enum Kind { classed, value_only, neither, missing } kind = missing;
  bool positive = false;
  double value = 0;  // for rank correlation
};

/// The classes of labels, with 1 for positive and 0 for negative where a label is a number alone.
inline bool has_class(const Verdict& verdict) {
  return verdict.kind == Verdict::classed || verdict.value == 0 || verdict.value == 1;
}
inline bool is_positive(const Verdict& verdict) {
  return verdict.kind == Verdict::classed ? verdict.positive : verdict.value == 1;
}

/// Whether the comma at `i` is part of a value, as in ClinVar's Pathogenic,_low_penetrance: before a blank,
/// or the low line that stands for one.
inline bool is_own_comma(const std::string& text, size_t i) {
  return i + 1 < text.size() && (text[i + 1] == '_' || text[i + 1] == ' ');
}

/// How often each word or number of a label's tag stood where it made an allele positive or negative, or did
/// neither.
struct LabelWords {
  std::map<std::string, uint64_t> positive, negative, neither;

  bool empty() const { return positive.empty() && negative.empty() && neither.empty(); }
  /// Counts a word of neither class. A tag may have a value of its own for every allele.
  void count_neither(const std::string& word) {
    if (neither.size() < kMostKept || neither.contains(word)) ++neither[word];
  }
  /// "12 Pathogenic, 3 Likely_pathogenic, 1 risk_factor and more": the most frequent of all words.
  std::string most_frequent() const {
    std::map<std::string, uint64_t> all = positive;
    for (const auto* words : {&negative, &neither})
      for (const auto& [word, count] : *words) all[word] += count;
    return text(all, kMostShown);
  }
  /// With what the two classes are called.
  std::string sentence(const std::string& one = "positive", const std::string& other = "negative") const {
    return "words of the label: " + one + " " + text(positive) + "; " + other + " " + text(negative) +
           "; in neither class " + text(neither);
  }

 private:
  static constexpr size_t kMostKept = 1000, kMostShown = 20;

  /// "12 Pathogenic, 3 Likely_pathogenic"; the most frequent first, "none" if there are none.
  static std::string text(const std::map<std::string, uint64_t>& words, size_t most = kMostKept) {
    std::vector<std::pair<std::string, uint64_t>> sorted(words.begin(), words.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (size_t i = 0; i < std::min(most, sorted.size()); ++i)
      out += (i == 0 ? "" : ", ") + std::to_string(sorted[i].second) + " " + sorted[i].first;
    return out.empty() ? "none" : out + (sorted.size() > most ? " and more" : "");
  }
};

/// Words of a label that no allele has.
struct UnfoundWords {
  bool whole_class;    // all words of a class, so that no allele can belong to it
  std::string reason;  // names them, and the values that the tag has instead
};

/// TAG | TAG=A,B[/C,D] | TAG>NUMBER and the like; or the preset `clinvar`, for CLNSIG of ClinVar.
class Label {
 public:
  /// Throws LabelError for a text that is no expression.
  explicit Label(const std::string& text) {
    if (text == "clinvar") {
      preset_ = true;
      tag_ = "CLNSIG";
      operator_ = "=";
      return;
    }
    const size_t end = std::min(text.find_first_of("=<>!"), text.size());
    tag_ = text.substr(0, end);
    std::string rest = text.substr(end);
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">", "="})
      if (rest.starts_with(op)) {
        operator_ = op;
        break;
      }
    rest = rest.substr(operator_.size());
    if (tag_.empty() || (rest.empty() != operator_.empty()))
      refuse(text + ": expected TAG, TAG=A,B/C,D, TAG>NUMBER or clinvar");
    if (operator_ == "=") {
      read_lists(rest, text);
    } else if (!operator_.empty() && !parse_number(rest, threshold_)) {
      refuse(text + ": '" + rest + "' is not a number; words are compared with a single =");
    }
  }

  const std::string& tag() const { return tag_; }
  bool is_preset() const { return preset_; }
  bool is_flag() const { return is_flag_; }  // after set_type()
  bool is_tag_alone() const { return operator_.empty(); }
  /// The words of TAG=A,B/C,D; none for other expressions.
  const std::vector<std::string>& positive_words() const { return positive_; }
  const std::vector<std::string>& negative_words() const { return negative_; }

  /// Throws LabelError for a type of tag that the expression cannot be asked of. Floats are compared in their
  /// own precision.
  void set_type(LabelType type) {
    if (preset_ && type != LabelType::text)
      refuse("clinvar: " + tag_ + " is no text, so it is not ClinVar's");
    const bool numeric = type == LabelType::integer || type == LabelType::real;
    if (type == LabelType::flag && !operator_.empty()) refuse(tag_ + " is a flag; give its name alone");
    if (type == LabelType::text && operator_ != "=")
      refuse(tag_ + " is text; name its values, " + tag_ + "=A,B/C,D");
    if (numeric && operator_ == "=")
      for (const auto* list : {&positive_, &negative_})
        for (const std::string& word : *list)
          if (double ignored; !parse_number(word, ignored))
            refuse(tag_ + " is a number, '" + word + "' is none");
    is_float_ = type == LabelType::real;
    is_flag_ = type == LabelType::flag;
    threshold_ = exact(threshold_);
  }

  /// The value is that of one allele, or the record's. `words`, if not null, counts the values of TAG=A,B.
  Verdict judge_numbers(std::optional<double> value, LabelWords* words = nullptr) const {
    if (!value || std::isnan(*value)) return {};
    if (operator_.empty()) return {Verdict::value_only, false, *value};
    if (operator_ == "=") {
      const std::string* const of_positive = listed(positive_, *value);
      const std::string* const of_negative = listed(negative_, *value);
      if (words) note(of_positive, of_negative, general_text(*value, 7), *words);
      return judge(of_positive, of_negative);
    }
    const bool holds = operator_ == "=="   ? *value == threshold_
                       : operator_ == "!=" ? *value != threshold_
                       : operator_ == "<=" ? *value <= threshold_
                       : operator_ == ">=" ? *value >= threshold_
                       : operator_ == "<"  ? *value < threshold_
                                           : *value > threshold_;
    return {Verdict::classed, holds, *value};
  }
  /// A null pointer is a missing value. A word with commas is compared with as many values side by side,
  /// which then count for no other word. `words`, if not null, counts the values.
  Verdict judge_texts(const char* const* texts, size_t count, LabelWords* words = nullptr) const {
    if (preset_) return judge_clinvar(texts, count, words);
    bool any = false, positive = false, negative = false;
    for (size_t i = 0; i < count;) {
      size_t used = texts[i] ? std::min(count - i, longest_) : 0;
      any |= used > 0;
      for (; used > 0; --used) {
        const std::string value = joined(texts + i, used);
        const std::string* const of_positive = find(positive_, value);
        const std::string* const of_negative = find(negative_, value);
        positive |= of_positive != nullptr;
        negative |= of_negative != nullptr;
        const bool found = of_positive || of_negative;
        if (words && (found || used == 1)) note(of_positive, of_negative, value, *words);
        if (found) break;
      }
      i += std::max<size_t>(used, 1);
    }
    return any ? judge(positive, negative) : Verdict{};
  }

  /// The words of TAG=A,B/C,D that were not among the values `words` of all alleles, most likely because they
  /// are misspelt. Nothing for another expression, and where no allele has a value.
  std::optional<UnfoundWords> unfound(const LabelWords& words) const {
    if (preset_ || words.empty()) return std::nullopt;
    UnfoundWords out{false, {}};
    for (const auto& [list, found] :
         {std::pair(&positive_, &words.positive), {&negative_, &words.negative}}) {
      size_t lacking = 0;
      for (const std::string& word : *list) {
        if (found->contains(word)) continue;
        out.reason += (out.reason.empty() ? "no allele has the value " : ", ") + word;
        ++lacking;
      }
      out.whole_class |= lacking > 0 && lacking == list->size();
    }
    if (out.reason.empty()) return std::nullopt;
    out.reason += " of " + tag_ + "; its values are " + words.most_frequent();
    return out;
  }

 private:
  /// Pathogenic and Likely_pathogenic beside nothing that contradicts them or leaves it open; so for Benign.
  /// Modifiers (_low_penetrance) and other words (drug_response) are left out.
  static Verdict judge_clinvar(const char* const* texts, size_t count, LabelWords* words) {
    bool positive = false, negative = false, open = false;
    std::vector<std::string> parts;
    for (size_t i = 0; i < count; ++i) {
      const std::string value = texts[i] ? texts[i] : "";
      for (size_t begin = 0; begin < value.size();) {
        const size_t end = std::min(value.find_first_of(",|/", begin), value.size());
        if (end > begin) parts.push_back(value.substr(begin, end - begin));
        begin = end + 1;
      }
    }
    for (const std::string& part : parts) {
      positive |= is_pathogenic(part);
      negative |= is_benign(part);
      open |= part == "Uncertain_significance" || part.starts_with("Conflicting");
    }
    const bool classed = positive != negative && !open;
    for (const std::string& part : parts) {
      if (!words) break;
      const bool counts = classed && (is_pathogenic(part) || is_benign(part));
      if (counts)
        ++(positive ? words->positive : words->negative)[part];
      else
        words->count_neither(part);
    }
    if (parts.empty()) return {};
    if (!classed) return {Verdict::neither, false, 0};
    return {Verdict::classed, positive, positive ? 1.0 : 0.0};
  }
  static bool is_pathogenic(const std::string& word) {
    return word == "Pathogenic" || word == "Likely_pathogenic";
  }
  static bool is_benign(const std::string& word) { return word == "Benign" || word == "Likely_benign"; }

  [[noreturn]] static void refuse(std::string reason) { throw LabelError{std::move(reason)}; }
  /// The whole text as a number; false if it is none.
  static bool parse_number(const std::string& text, double& value) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() && !text.empty();
  }
  Verdict judge(bool positive, bool negative) const {
    if (negative_.empty()) negative = !positive;
    if (positive == negative) return {Verdict::neither, false, 0};
    return {Verdict::classed, positive, positive ? 1.0 : 0.0};
  }
  double exact(double number) const {
    return is_float_ ? static_cast<double>(static_cast<float>(number)) : number;
  }
  /// The word that stands for a value, or null.
  const std::string* listed(const std::vector<std::string>& words, double value) const {
    const auto at = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
      double number = 0;
      return parse_number(word, number) && exact(number) == value;
    });
    return at == words.end() ? nullptr : &*at;
  }
  static std::string joined(const char* const* texts, size_t count) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += (i > 0 ? "," : "") + std::string(texts[i] ? texts[i] : ".");
    return out;
  }
  static const std::string* find(const std::vector<std::string>& words, const std::string& word) {
    const auto at = std::find(words.begin(), words.end(), word);
    return at == words.end() ? nullptr : &*at;
  }
  static void note(const std::string* positive, const std::string* negative, const std::string& value,
                   LabelWords& words) {
    if (positive) ++words.positive[*positive];
    if (negative) ++words.negative[*negative];
    if (!positive && !negative) words.count_neither(value);
  }
  /// A,B/C,D; a backslash before / or , makes it a letter of the word, and so does a low line after the
  /// comma, as in Pathogenic,_low_penetrance of ClinVar.
  void read_lists(const std::string& rest, const std::string& text) {
    std::vector<std::string>* list = &positive_;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) refuse(text + ": an empty word");
      longest_ = std::max(longest_, 1 + static_cast<size_t>(std::count(word.begin(), word.end(), ',')));
      list->push_back(std::move(word));
      word.clear();
    };
    for (size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '\\' && i + 1 < rest.size() && std::strchr("/,\\", rest[i + 1])) {
        word += rest[++i];
      } else if (c == ',' && !is_own_comma(rest, i)) {
        end_word();
      } else if (c == '/') {
        if (list == &negative_) refuse(text + ": a second /; write \\/ for one that belongs to a word");
        end_word();
        list = &negative_;
      } else {
        word += c;
      }
    }
    end_word();
  }

  std::string tag_, operator_;
  std::vector<std::string> positive_, negative_;
  size_t longest_ = 1;  // values that a word may stand for
  double threshold_ = 0;
  bool is_float_ = false, is_flag_ = false, preset_ = false;
};

/// What to say of a score with an AUROC below 0.5, which is that of a score turned round. `low`: low scores
/// were taken for those of positive alleles; `by_header`: because the header says so.
inline std::string reversed_words(const std::string& score, const std::string& auroc, bool low,
                                  bool by_header, const std::string& article = "the") {
  const std::string found = article + " AUROC of " + score + " is " + auroc +
                            ", below 0.5: alleles that the label calls positive have " +
                            (low ? "higher" : "lower") + " scores than the others";
  if (by_header)
    return found + ", and by the header " + (low ? "low" : "high") +
           " scores are those of damaging alleles; does the label name the other class?";
  return found + "; do " + (low ? "high" : "low") + " scores speak for the label?";
}

}  // namespace carbon
