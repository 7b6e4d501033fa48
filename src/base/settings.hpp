// Settings as text: names of options without dashes, "=", their values, and blanks between them, such as
// "recipe=anchored horizon=96,768". A flag is its name alone. Plugins give settings in this form.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/near_names.hpp"
#include "src/base/words.hpp"

namespace carbon {

/// Names and values of what the output of a command depends on, in the order of its header lines.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// "Level=marginal,Frames=1" for {"level", "marginal"}, {"frames", "1"}: as header lines have them.
inline std::string header_text(const Settings& settings) {
  std::string text;
  for (auto [name, value] : settings) {
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    text += (text.empty() ? "" : ",") + name + "=" + value;
  }
  return text;
}

/// Calls `set` with each name and its value, "" for a flag.
inline void read_settings(const std::string& text,
                          const std::function<void(const std::string&, const std::string&)>& set) {
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    set(word.substr(0, equals), equals < word.size() ? word.substr(equals + 1) : "");
  }
}

[[noreturn]] inline void unknown_setting(const std::string& name, const std::vector<std::string>& known) {
  throw SettingError(name, "'" + name + "' is no setting here; expected " + or_list(known));
}

/// The value that one of the words names. Throws SettingError.
template <class T, size_t N>
T word_setting(const std::string& name, const std::string& text, const Word<T> (&words)[N]) {
  if (const auto value = value_of(words, text)) return *value;
  throw SettingError(name, name + " '" + text + "': expected " + or_list(all_words(words)));
}

/// A number; `expected` says which, for the message. Throws SettingError.
template <class T>
T number_setting(const std::string& name, std::string_view text, const std::string& expected) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw SettingError(name, name + " '" + std::string(text) + "': expected " + expected);
  return value;
}

}  // namespace carbon
