#include "src/cli/argument_words.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/lists.hpp"
#include "src/base/near_names.hpp"

namespace carbon {

ArgumentWords::ArgumentWords(const std::deque<Option>& rows, int argc, char** argv, std::string command)
    : command_(std::move(command)) {
  for (const Option& row : rows)
    if (!row.heading.empty()) options_.push_back(&row);
  if (argc > 0) words_.emplace_back(argv[0]);
  int i = 1;
  for (; i < argc && (!wants_value_.empty() || std::string(argv[i]) != "--"); ++i) {
    const std::string word = argv[i];
    if (!wants_value_.empty()) {
      add_value(word);
    } else if (word.starts_with("--")) {
      add_long(word);
    } else if (word.starts_with('-') && word.size() > 1) {
      add_short(word);
    } else {
      add_value(word);
    }
  }
  if (!wants_value_.empty()) fail(wants_value_ + " needs a value: " + wanted_->shown_value());
  for (; i < argc; ++i) add_value(argv[i]);
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

void ArgumentWords::fail(const std::string& what) const {
  throw Error("main_" + command_, what + "; see 'carbon " + command_ + " --help'");
}

// The value of an option, or an argument that belongs to none.
void ArgumentWords::add_value(const std::string& word) {
  if (word.empty()) fail(empty_value(wants_value_.empty() ? "an argument" : wants_value_));
  // A file of such a name can be given as ./NAME.
  const Option* const before = std::exchange(without_value_, nullptr);
  if (wants_value_.empty() && before &&
      std::find(before->words.begin(), before->words.end(), word) != before->words.end())
    fail("the value of --" + before->name + " stands directly behind it: --" + before->name + "=" + word);
  wants_value_.clear();
  words_.push_back(word);
}

// The word that follows an option without an attached value is its value, whatever it looks like.
void ArgumentWords::expect_value(const Option& option, const std::string& name) {
  if (option.is_flag()) return;
  wants_value_ = name;
  wanted_ = &option;
}

void ArgumentWords::add_attached(const Option& option, const std::string& value, bool given) {
  const std::string name = "--" + option.name + "=";
  if (given && value.empty())
    fail(name + " is empty: expected " + (option.words.empty() ? option.value.shown : or_list(option.words)));
  words_.push_back(name + (given ? value : option.left_out));
  without_value_ = given ? nullptr : &option;
}

void ArgumentWords::add_long(const std::string& word) {
  const size_t equals = word.find('=');
  const bool given = equals != std::string::npos;
  const std::string name = full_name(word.substr(2, given ? equals - 2 : equals));
  const Option& option = **std::find_if(options_.begin(), options_.end(),
                                        [&](const Option* candidate) { return candidate->name == name; });
  if (option.attached) {
    add_attached(option, given ? word.substr(equals + 1) : "", given);
    return;
  }
  if (given && equals + 1 == word.size()) fail(empty_value("--" + name));
  words_.push_back("--" + name + (given ? word.substr(equals) : ""));
  if (!given) expect_value(option, "--" + name);
}

std::string ArgumentWords::full_name(const std::string& start) const {
  std::vector<std::string> begin_so;
  for (const Option* option : options_) {
    if (option->name == start) return start;
    if (!start.empty() && option->name.starts_with(start)) begin_so.push_back("--" + option->name);
  }
  if (begin_so.size() == 1) return begin_so.front().substr(2);
  if (begin_so.empty())
    fail("unrecognized option '--" + start + "'" + did_you_mean("--" + start, long_names()));
  fail("option '--" + start + "' could be " + or_list(begin_so));
}

std::vector<std::string> ArgumentWords::long_names() const {
  std::vector<std::string> names;
  for (const Option* option : options_) names.push_back("--" + option->name);
  return names;
}

// Letters of flags, and then perhaps one that takes the rest of the word, or the next, as its value.
void ArgumentWords::add_short(const std::string& word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option* candidate) { return candidate->letter == word[at]; });
    if (found == options_.end())
      fail("unrecognized option '-" + std::string(1, word[at]) + "'" +
           (word.size() > 2 ? " in '" + word + "'" : "") +
           (word.size() > 3 ? did_you_mean("-" + word, long_names()) : ""));
    const Option& option = **found;
    if (option.attached) {
      if (at > 1) words_.push_back(word.substr(0, at));
      const size_t value = at + 1 < word.size() && word[at + 1] == '=' ? at + 2 : at + 1;
      add_attached(option, word.substr(value), at + 1 < word.size());
      return;
    }
    if (option.is_flag()) continue;
    if (at + 1 == word.size()) expect_value(option, "-" + std::string(1, word[at]));
    break;
  }
  words_.push_back(word);
}

}  // namespace carbon
