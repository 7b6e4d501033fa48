// src/base/: what all rooms may include, and what includes none of them: errors, log, JSON, progress,
// threads, random numbers and exact arithmetic, numbers and letters as text, what the process asks of the
// system, and what long runs share.
//
// Here is the one exception type of the program.
//
// A message says what went wrong, where (file, line, contig:pos, tensor) and which values would work. Where
// an option or a setting would help, the Error carries an Advice beside it: the library does not know who
// calls it, and each door writes options as its users do. main() catches the Error once, prints
// `[E::function] message; advice` and exits with status 1. Nothing else in the program calls exit().
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace carbon {

/// What the user could do, without a full stop: "set it with {--window}". {--NAME} and {-N} stand for an
/// option, {0} and {1} for the values, and {--NAME 0} for an option with such a value.
struct Advice {
  std::string text;
  std::vector<std::string> values = {};

  /// How a door writes an option, and its value if that is not "".
  using Write = std::function<std::string(const std::string& option, const std::string& value)>;

  /// The words in which `write` gives each option. None if it gives "" for one of them: the advice does not
  /// help whoever lacks it.
  std::string words(const Write& write) const;
  /// The same with options as the command line has them.
  std::string for_commands() const;
  bool operator==(const Advice&) const = default;
};

inline std::string Advice::words(const Write& write) const {
  const auto value = [&](const std::string& number) { return values.at(std::stoul(number)); };
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{') {
      out += text[at];
      continue;
    }
    const size_t end = text.find('}', at);
    const std::string name = text.substr(at + 1, end - at - 1);
    const bool is_option = name.front() == '-';
    const size_t blank = name.find(' ');
    const std::string written = !is_option ? value(name)
                                : blank == std::string::npos
                                    ? write(name, "")
                                    : write(name.substr(0, blank), value(name.substr(blank + 1)));
    if (is_option && written.empty()) return "";
    out += written;
    at = end;
  }
  return out;
}

inline std::string Advice::for_commands() const {
  return words([](const std::string& option, const std::string& value) {
    return option + (value.empty() ? "" : " " + value);
  });
}

class Error : public std::runtime_error {
 public:
  /// `function` is the name that goes into `[E::function]`, e.g. "load_config".
  Error(std::string function, const std::string& message, Advice advice = {})
      : std::runtime_error(message), function_(std::move(function)), advice_(std::move(advice)) {}
  const std::string& function() const { return function_; }
  const Advice& advice() const { return advice_; }

 private:
  std::string function_;
  Advice advice_;
};

/// The host or the device lacks the memory for what was asked. Nothing has been changed, and a smaller
/// request may still succeed.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The value of a setting cannot be used: an option of a command, a field of a request, a word of a plugin.
/// The message names neither dashes nor fields; whoever has read the setting knows how it was given.
class SettingError : public Error {
 public:
  SettingError(std::string function, std::string setting, const std::string& message, Advice advice = {})
      : Error(std::move(function), message, std::move(advice)), setting_(std::move(setting)) {}
  /// Its name, as in the options of the command line without dashes.
  const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

}  // namespace carbon
