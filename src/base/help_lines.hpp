// The lines of --help: at most 100 columns, and what an option does in a column of its own; and words for a
// shell. For the commands and the plugins that are shipped, which share no other code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace carbon {

constexpr size_t kHelpWidth = 100;  // columns of a line at most
constexpr size_t kHelpIndent = 2, kHelpTextColumn = 32;

/// A command line and what it does, for the end of --help.
struct Example {
  std::string does;  // e.g. "annotate a VCF and index the output"
  std::string line;
};

/// `text` in lines of at most kHelpWidth columns that begin at column `indent`, the first without its indent.
/// Only a word that is too long for a line stays longer.
inline std::string wrapped_help(const std::string& text, size_t indent) {
  std::istringstream words(text);
  std::string lines;
  size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > kHelpWidth) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines + "\n";
}

/// What a command or plugin says of an empty value, which most often comes from a variable of the shell that
/// is not set. `what` is the name of an option, or what an argument is.
inline std::string empty_value(const std::string& what) {
  return what + " is empty: give a value, or leave it out (is a variable of the shell not set?)";
}

/// In single quotes for a shell.
inline std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A text as a word that a shell does not split or replace.
inline std::string shell_word(const std::string& text) {
  constexpr const char* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:=+-@%";
  return !text.empty() && text.find_first_not_of(plain) == std::string::npos ? text : shell_quoted(text);
}

/// The lines of an option. `names` are its names and type, e.g. "-o,--output FILE".
inline std::string option_help(const std::string& names, const std::string& text) {
  std::string line = std::string(kHelpIndent, ' ') + names;
  if (line.size() + 1 >= kHelpTextColumn) line += "\n" + std::string(kHelpTextColumn, ' ');
  line.resize(std::max(line.size(), kHelpTextColumn), ' ');
  return line + wrapped_help(text, kHelpTextColumn);
}

/// "" without examples.
inline std::string examples_help(const std::vector<Example>& examples) {
  std::string text = examples.empty() ? "" : "Examples:\n";
  const std::string indent(kHelpIndent, ' ');
  for (const Example& example : examples)
    text.append(indent + "# " + example.does + "\n").append(indent + example.line + "\n");
  return text;
}

}  // namespace carbon
