#include "src/model/module_pattern.hpp"

#include <locale>
#include <regex>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"

namespace carbon {
namespace {

constexpr size_t kLongest = 300;

/// Most keys are names: letters, digits, _ and dots. A dot stands for any character, as in an expression. The
/// name may begin with ^, and is then that of one module.
bool is_name(std::string_view key) {
  if (key.starts_with('^')) key.remove_prefix(1);
  return !key.empty() && std::all_of(key.begin(), key.end(),
                                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.'; });
}

bool has_name(std::string_view module, std::string_view name) {
  const bool whole = name.starts_with('^');
  if (whole) name.remove_prefix(1);
  if (module.size() < name.size() || (whole && module.size() != name.size())) return false;
  const size_t at = module.size() - name.size();
  if (at > 0 && module[at - 1] != '.') return false;
  return std::equal(name.begin(), name.end(), module.begin() + static_cast<ptrdiff_t>(at),
                    [](char wanted, char c) { return wanted == '.' || wanted == c; });
}

/// Goes through an expression and returns whether it consists of parts that mean the same in Python and in
/// ECMAScript, whose grammar std::regex has.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool reads_all() {
    while (good_ && at_ < text_.size()) part();
    return good_;
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    const bool taken = next_is(c);
    at_ += taken;
    return taken;
  }

  void part() {
    const char c = text_[at_++];
    if (c == '\\') return escape();
    if (c == '[') return brackets();
    if (c == '(' && take('?')) {
      good_ = take(':');
    } else if (c == '*' || c == '+' || c == '?') {
      end_repetition();
    } else if (c == '{') {
      repetition();
    } else {
      good_ = c > ' ' && c < 0x7f && c != ']' && c != '}';
    }
  }

  // Behind a backslash a letter or digit means something, and not always the same.
  void escape() {
    const char c = at_ < text_.size() ? text_[at_++] : 'Z';
    good_ = std::string_view("dDwWsS").find(c) != std::string_view::npos ||
            (c > ' ' && c < 0x7f && !is_letter_or_digit(c) && c != '_');
  }

  void brackets() {
    take('^');
    if (next_is(']')) good_ = false;  // a letter of the set in Python
    while (good_ && !take(']')) {
      if (at_ == text_.size() || next_is('[')) {
        good_ = false;
      } else if (take('\\')) {
        escape();
      } else {
        ++at_;
      }
    }
  }

  bool number() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin && at_ - begin <= 3;
  }
  void repetition() {
    good_ = number();
    if (good_ && take(',') && !next_is('}')) good_ = number();
    good_ = good_ && take('}');
    if (good_) end_repetition();
  }
  // One more would make it possessive in Python.
  void end_repetition() {
    take('?');
    good_ = !next_is('*') && !next_is('+') && !next_is('?') && !next_is('{');
  }

  std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
};

}  // namespace

ModulePattern module_pattern(const std::string& where, const std::string& key) {
  if (is_name(key)) return [key](const std::string& module) { return has_name(module, key); };
  const auto fail = [&](const std::string& what) {
    throw Error("load_adapter", where + ": alpha_pattern has the key '" + printable(key) +
                                    "', a regular expression " + what + "; write the names of the modules");
  };
  if (key.size() > kLongest) fail("of more than " + std::to_string(kLongest) + " characters");
  if (!Reader(key).reads_all()) fail("with parts that are not supported here");
  std::regex expression;
  expression.imbue(std::locale::classic());
  try {
    // Whatever the expression is, the time for a name grows with its length only (__polynomial).
    expression.assign("(?:.*\\.)?(?:" + key + ")",
                      std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error&) {
    fail("that is wrong or too long");
  }
  return [expression](const std::string& module) { return std::regex_match(module, expression); };
}

}  // namespace carbon
