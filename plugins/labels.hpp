// What an allele's label says: the expressions of --label of +auroc and +concord, judged on the values of an
// INFO tag.
//
// Knows neither records nor scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "plugins/support.hpp"

namespace carbon_plugins {

struct Verdict {
  enum Kind { classed, value_only, neither, missing } kind = missing;
  bool positive = false;
  double value = 0;  // for rank correlation
};

/// TAG | TAG=A,B[/C,D] | TAG>NUMBER and the like.
class Label {
 public:
  explicit Label(const std::string& text) {
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
      fail("--label " + text + ": expected TAG, TAG=A,B/C,D or TAG>NUMBER");
    if (operator_ == "=") {
      read_lists(rest, text);
    } else if (!operator_.empty() && !parse_number(rest, threshold_)) {
      fail("--label " + text + ": '" + rest + "' is not a number; words are compared with a single =");
    }
  }

  const std::string& tag() const { return tag_; }
  bool is_flag() const { return is_flag_; }  // after set_type()

  /// Refuses a type of tag that the expression cannot be asked of. Floats are compared in their own
  /// precision.
  void set_type(int type) {
    const bool numeric = type == CARBON_TYPE_INTEGER || type == CARBON_TYPE_FLOAT;
    if (type == CARBON_TYPE_FLAG && !operator_.empty())
      fail("--label: " + tag_ + " is a flag; give its name alone");
    if (type == CARBON_TYPE_STRING && operator_ != "=")
      fail("--label: " + tag_ + " is text; name its values, " + tag_ + "=A,B/C,D");
    if (numeric && operator_ == "=")
      for (const auto* list : {&positive_, &negative_})
        for (const std::string& word : *list)
          if (double ignored; !parse_number(word, ignored))
            fail("--label: " + tag_ + " is a number, '" + word + "' is none");
    is_float_ = type == CARBON_TYPE_FLOAT;
    is_flag_ = type == CARBON_TYPE_FLAG;
    threshold_ = exact(threshold_);
  }

  /// `values` are those of one allele, or the record's.
  Verdict judge_numbers(std::optional<double> value) const {
    if (!value || std::isnan(*value)) return {};
    if (operator_.empty()) return {Verdict::value_only, false, *value};
    if (operator_ == "=") return judge(listed(positive_, *value), listed(negative_, *value));
    const bool holds = operator_ == "=="   ? *value == threshold_
                       : operator_ == "!=" ? *value != threshold_
                       : operator_ == "<=" ? *value <= threshold_
                       : operator_ == ">=" ? *value >= threshold_
                       : operator_ == "<"  ? *value < threshold_
                                           : *value > threshold_;
    return {Verdict::classed, holds, *value};
  }
  Verdict judge_texts(const char* const* texts, size_t count) const {
    bool any = false, positive = false, negative = false;
    for (size_t i = 0; i < count; ++i) {
      if (!texts[i]) continue;
      any = true;
      positive |= std::find(positive_.begin(), positive_.end(), texts[i]) != positive_.end();
      negative |= std::find(negative_.begin(), negative_.end(), texts[i]) != negative_.end();
    }
    return any ? judge(positive, negative) : Verdict{};
  }

 private:
  Verdict judge(bool positive, bool negative) const {
    if (negative_.empty()) negative = !positive;
    if (positive == negative) return {Verdict::neither, false, 0};
    return {Verdict::classed, positive, positive ? 1.0 : 0.0};
  }
  double exact(double number) const {
    return is_float_ ? static_cast<double>(static_cast<float>(number)) : number;
  }
  bool listed(const std::vector<std::string>& words, double value) const {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      double number = 0;
      return parse_number(word, number) && exact(number) == value;
    });
  }
  /// A,B/C,D; a backslash before / or , makes it a letter of the word.
  void read_lists(const std::string& rest, const std::string& text) {
    std::vector<std::string>* list = &positive_;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) fail("--label " + text + ": an empty word");
      list->push_back(std::move(word));
      word.clear();
    };
    for (size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '\\' && i + 1 < rest.size() && std::strchr("/,\\", rest[i + 1])) {
        word += rest[++i];
      } else if (c == ',') {
        end_word();
      } else if (c == '/') {
        if (list == &negative_)
          fail("--label " + text + ": a second /; write \\/ for one that belongs to a word");
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
  double threshold_ = 0;
  bool is_float_ = false, is_flag_ = false;
};

}  // namespace carbon_plugins
