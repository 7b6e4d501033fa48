// The words of a command line as CLI11 is to see them: with the full names of long options, and with attached
// values where an option may stand without one.
//
// CLI11 wants full names, complains about an unknown option only after it has missed a required one, and
// gives the word after a lone -W to it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

namespace carbon {

/// The words of argv as they are, but
/// - a long option may be written as any beginning of its name that no other option has (as getopt allows),
/// - an option that takes only an attached value gets the one that stands for none if there is none: -W, -WB,
/// -W=B
///   and --write-index=B.
/// Throws Error, from `main_COMMAND`, for an option that is not in the table or that is ambiguous, with the
/// options that may have been meant, for every value and argument that is empty (none may be), and for an
/// option without its value.
class ArgumentWords {
 public:
  ArgumentWords(const std::deque<Option>& rows, int argc, char** argv, std::string command);
  const std::vector<std::string>& words() const { return words_; }
  int count() const { return static_cast<int>(words_.size()); }
  char** argv() { return pointers_.data(); }

 private:
  void add_long(const std::string& word);
  void add_short(const std::string& word);
  void add_attached(const Option& option, const std::string& value, bool given);
  std::string full_name(const std::string& start) const;
  std::vector<std::string> long_names() const;
  void add_value(const std::string& word);
  void expect_value(const Option& option, const std::string& name);
  [[noreturn]] void fail(const std::string& what) const;

  std::string command_;
  std::vector<const Option*> options_;
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
  const Option* wanted_ = nullptr;
  const Option* without_value_ = nullptr;  // the last one, if its value may be attached and was left out
  std::string wants_value_;  // the name of the option whose value is the next word; "" if it is no value
};

}  // namespace carbon
