#include "src/cli/argument_words.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/near_names.hpp"

namespace carbon {
namespace {

bool takes_only_attached(const CLI::Option& option) {
  return option.get_type_name().starts_with("[=");
}

/// "csi" of "[=csi|tbi]".
std::string first_value(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(2, type.find_first_of("|]") - 2);
}

/// "csi or tbi" of "[=csi|tbi]".
std::string expected_values(const CLI::Option& option) {
  std::string values = option.get_type_name().substr(2);
  values.resize(values.find(']'));
  if (const size_t bar = values.find('|'); bar != std::string::npos) values.replace(bar, 1, " or ");
  return values;
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

ArgumentWords::ArgumentWords(const CLI::App& app, int argc, char** argv, std::string command)
    : command_(std::move(command)), options_(app.get_options()) {
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
  wants_value_.clear();
  words_.push_back(word);
}

// The word that follows an option without an attached value is its value, whatever it looks like.
void ArgumentWords::expect_value(const CLI::Option& option, const std::string& name) {
  if (option.get_items_expected_min() > 0) wants_value_ = name;
}

void ArgumentWords::add_attached(const CLI::Option& option, const std::string& value, bool given) {
  const std::string name = "--" + option.get_lnames().front() + "=";
  if (given && value.empty()) fail(name + " is empty: expected " + expected_values(option));
  words_.push_back(name + (given ? value : first_value(option)));
}

void ArgumentWords::add_long(const std::string& word) {
  const size_t equals = word.find('=');
  const bool given = equals != std::string::npos;
  const std::string name = full_name(word.substr(2, given ? equals - 2 : equals));
  const CLI::Option& option =
      **std::find_if(options_.begin(), options_.end(),
                     [&](const CLI::Option* candidate) { return has_name(candidate->get_lnames(), name); });
  if (takes_only_attached(option)) {
    add_attached(option, given ? word.substr(equals + 1) : "", given);
    return;
  }
  if (given && equals + 1 == word.size()) fail(empty_value("--" + name));
  words_.push_back("--" + name + (given ? word.substr(equals) : ""));
  if (!given) expect_value(option, "--" + name);
}

std::string ArgumentWords::full_name(const std::string& start) const {
  std::vector<std::string> names, begin_so;
  size_t options_so = 0;
  for (const CLI::Option* option : options_) {
    const size_t before = begin_so.size();
    for (const std::string& name : option->get_lnames()) {
      if (name == start) return name;
      names.push_back("--" + name);
      if (!start.empty() && name.starts_with(start)) begin_so.push_back("--" + name);
    }
    if (begin_so.size() > before) ++options_so;
  }
  if (options_so == 1) return begin_so.front().substr(2);
  if (options_so == 0) fail("unrecognized option '--" + start + "'" + did_you_mean("--" + start, names));
  fail("option '--" + start + "' could be " + or_list(begin_so));
}

// Letters of flags, and then perhaps one that takes the rest of the word, or the next, as its value.
void ArgumentWords::add_short(const std::string& word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const std::string letter(1, word[at]);
    const auto option = std::find_if(options_.begin(), options_.end(), [&](const CLI::Option* candidate) {
      return has_name(candidate->get_snames(), letter);
    });
    if (option == options_.end()) {
      std::vector<std::string> names;
      for (const CLI::Option* candidate : options_)
        for (const std::string& name : candidate->get_lnames()) names.push_back("--" + name);
      fail("unrecognized option '-" + letter + "'" + (word.size() > 2 ? " in '" + word + "'" : "") +
           (word.size() > 3 ? did_you_mean("-" + word, names) : ""));
    }
    if (takes_only_attached(**option)) {
      if (at > 1) words_.push_back(word.substr(0, at));
      const size_t value = at + 1 < word.size() && word[at + 1] == '=' ? at + 2 : at + 1;
      add_attached(**option, word.substr(value), at + 1 < word.size());
      return;
    }
    if ((*option)->get_items_expected_max() == 0) continue;
    if (at + 1 == word.size()) expect_value(**option, "-" + letter);
    break;
  }
  words_.push_back(word);
}

}  // namespace carbon
