// The settings of a verb, each declared once as data: its name, its type or words, bounds, what holds without
// it, and a sentence. Whoever takes settings reads the declarations in a form of his own: here text such as
// "recipe=anchored horizon=96,768", as plugins give it; options of the command line (src/cli/options.hpp);
// fields of JSON (src/verbs/fields.hpp). What header lines and the identity of a run say of them comes from
// them as well.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/error.hpp"
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

/// Who takes settings: the options of a command, the fields of a request to a server, the options of a call
/// of libcarbon (C and Python), a text of a plugin, the arguments of a tool of `carbon mcp`.
enum class Door { command, http, library, plugin, mcp };
inline constexpr Word<Door> kDoorWords[] = {{"command", Door::command},
                                            {"http", Door::http},
                                            {"library", Door::library},
                                            {"plugin", Door::plugin},
                                            {"mcp", Door::mcp}};

/// A setting, and the variable that it sets. The methods fill in what few settings have, and return it.
class Setting {
 public:
  using Parts = std::vector<std::string>;
  /// One of several words. `get` returns "" where none was chosen.
  struct Choice {
    Parts words;
    std::function<void(const std::string&)> set;
    std::function<std::string()> get;
  };
  /// A list; as text, its parts with the separator between them. `set` throws SettingError.
  struct List {
    std::function<void(const Parts&)> set;
    Parts words = {};  // what a part may be; none: what `set` accepts
    char separator = ',';
    bool of_numbers = false;
    /// Over HTTP and in the library a single part: their results have room for one.
    bool one_part = false;
    /// Takes the text of a command line, which may name a file; null: as any text.
    std::function<void(const std::string&)> set_text = nullptr;
  };
  /// A JSON object with the name that messages call it by; on the command line, a file that has it.
  struct Object {
    std::function<void(std::shared_ptr<const nlohmann::json>, const std::string&)> set;
  };
  using Target = std::variant<bool*, size_t*, int*, int64_t*, std::optional<int64_t>*, double*, std::string*,
                              Choice, List, Object>;

  /// `shown` is the value as --help writes it, "" for a flag.
  Setting(std::string name, const char* shown, std::string help, Target target)
      : name(std::move(name)), shown(shown), help(std::move(help)), target(std::move(target)) {}
  /// A flag.
  Setting(std::string name, std::string help, bool& target)
      : Setting(std::move(name), "", std::move(help), Target(&target)) {}
  /// The value is one of the words of a table. `target` may be optional.
  template <class T, class V, size_t N>
  Setting(std::string name, const char* shown, std::string help, T& target, const Word<V> (&words)[N])
      : Setting(std::move(name), shown, std::move(help),
                Choice{all_words(words),
                       [&target, &words](const std::string& word) { target = *value_of(words, word); },
                       [&target, &words]() -> std::string {
                         if constexpr (std::is_same_v<T, V>)
                           return word_of(words, target);
                         else
                           return target ? word_of(words, *target) : "";
                       }}) {}

  Setting& letter_is(char value) {
    letter = value;
    return *this;
  }
  /// Bounds of a number, which are included.
  Setting& range(int64_t lowest, int64_t highest) {
    bounds = {lowest, highest};
    return *this;
  }
  /// Which numbers there are, if they are few.
  Setting& one_of(Parts numbers) {
    words = std::move(numbers);
    return *this;
  }
  /// What holds without the setting, for --help.
  Setting& otherwise(std::string text) {
    fallback = std::move(text);
    return *this;
  }
  /// The same, where it is the value that the variable has.
  Setting& shows_default() {
    default_shown = true;
    return *this;
  }
  Setting& required() {
    is_required = true;
    return *this;
  }
  Setting& excludes(std::string other) {
    excluded.push_back(std::move(other));
    return *this;
  }
  Setting& needs(std::string other) {
    needed.push_back(std::move(other));
    return *this;
  }
  /// An older name, which fields still have.
  Setting& also(std::string name) {
    alias = std::move(name);
    return *this;
  }
  /// A list as text that can be used, for messages.
  Setting& such_as(std::string text) {
    example = std::move(text);
    return *this;
  }
  /// Who does not take it, and why.
  Setting& not_at(Door door, std::string reason) {
    missing.emplace_back(door, std::move(reason));
    return *this;
  }
  /// Why it is not taken there; null if it is.
  const std::string* missing_at(Door door) const;
  /// The sentence with what holds without it.
  std::string full_help() const { return help + (fallback.empty() ? "" : " (default: " + fallback + ")"); }
  /// Its value as text; "" where there is none.
  std::string text() const;

  std::string name;  // as an option without dashes
  char letter = '\0';
  const char* shown;
  std::string help;
  Target target;
  std::optional<std::pair<int64_t, int64_t>> bounds;
  Parts words = {};
  std::string fallback;
  bool default_shown = false, is_required = false;
  Parts excluded, needed;  // names of other settings
  std::string alias, example;
  std::vector<std::pair<Door, std::string>> missing;
};

using SettingList = std::vector<Setting>;
/// Sets the variables of the settings that are given, and returns their names. Each door has such a function.
/// Throws Error.
using ReadSettings = std::function<std::vector<std::string>(const SettingList&)>;

/// Reads settings given as text: names, "=", values, and blanks between them. A flag is its name alone.
/// Throws SettingError for a value that cannot be used and for a name that is not among them.
std::vector<std::string> read_settings(const std::string& text, const SettingList& settings);

/// Sets a list that is given as text, or as parts of JSON. Throws SettingError.
void set_list(const Setting& setting, const Setting::List& list, const std::string& text);
void set_list(const Setting& setting, const Setting::List& list, const Setting::Parts& parts);
/// The example of a list as JSON has it; "" without.
std::string json_example(const Setting& setting, const Setting::List& list);

/// Names and values of the settings, for header lines.
Settings setting_values(const SettingList& settings);

/// Throws SettingError for a setting that is given beside one that it excludes, or without one that it needs.
void check_together(const SettingList& settings, const std::vector<std::string>& given);

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
