// Settings as text: names of options without dashes, "=", their values, and blanks between them, such as
// "recipe=anchored horizon=96,768". A flag is its name alone. Plugins give settings in this form.
#pragma once

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/base/words.hpp"

namespace carbon {

/// Names and values of what the output of a command depends on, in the order of its header lines.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// "Level=marginal,TopK=1" for {"level", "marginal"}, {"top-k", "1"}: as header lines have them. Values that
/// are more than a word are quoted.
std::string header_text(const Settings& settings);

/// A value of a header line in quotation marks, as take_header_value() (src/formats/carbon_scores.hpp) reads
/// it. Control characters and % are written as %0A, so that it stays on its line.
std::string quoted_field(std::string_view text);

/// A setting that can be given, and what takes its value, "" for a flag.
struct SettingReader {
  std::string name;
  std::function<void(const std::string& name, const std::string& value)> take;
};
/// Reads settings given as text. Throws SettingError for a name that no reader has.
void read_settings(const std::string& text, const std::vector<SettingReader>& readers);

/// The value that one of the words names. Throws SettingError.
template <class T, size_t N>
T word_setting(const std::string& name, const std::string& text, const Word<T> (&words)[N]) {
  if (const auto value = value_of(words, text)) return *value;
  throw SettingError("settings", name, name + " '" + text + "': expected " + or_list(all_words(words)));
}

/// A number; `expected` says which, for the message. Throws SettingError.
template <class T>
T number_setting(const std::string& name, std::string_view text, const std::string& expected) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw SettingError("settings", name, name + " '" + std::string(text) + "': expected " + expected);
  return value;
}

}  // namespace carbon
