#include "src/cli/help_formatter.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace carbon {
namespace {

constexpr size_t kWidth = 100;  // columns of a line at most
constexpr size_t kIndent = 2, kTextColumn = 32;

/// `text` in lines of at most kWidth columns that begin at column `indent`, the first without its indent.
/// Only a word that is too long for a line stays longer.
std::string wrapped(const std::string& text, size_t indent) {
  std::istringstream words(text);
  std::string lines;
  size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > kWidth) {
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

/// "-o,--output FILE". What CLI11 adds to a type, such as ":INT in [1 - 4096]" or ":{a,b}", is said in an
/// option's own text.
std::string names_and_type(const CLI::Option& option) {
  const std::string name = option.get_name(false, true);
  if (option.get_type_size() == 0) return name;
  const std::string type = option.get_type_name();
  return name + " " +
         type.substr(0,
                     std::min({type.find(":INT"), type.find(":UINT"), type.find(":FLOAT"), type.find(":{")}));
}

}  // namespace

HelpFormatter::HelpFormatter(std::string usage, const std::vector<Example>& examples)
    : usage_(std::move(usage)) {
  for (const Example& example : examples)
    examples_ += (examples_.empty() ? "Examples:\n" : "") + std::string(kIndent, ' ') + "# " + example.does +
                 "\n" + std::string(kIndent, ' ') + example.line + "\n";
}

std::string HelpFormatter::make_usage(const CLI::App* /*app*/, std::string /*name*/) const {
  return "Usage: " + usage_ + "\n\n";
}

std::string HelpFormatter::make_positionals(const CLI::App* /*app*/) const {
  return "";
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::string text = group + ":\n";
  for (const CLI::Option* option : options) text += make_option(option, is_positional);
  return text;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  std::string line = std::string(kIndent, ' ') + names_and_type(*option);
  if (line.size() + 1 >= kTextColumn) line += "\n" + std::string(kTextColumn, ' ');
  line.resize(std::max(line.size(), kTextColumn), ' ');
  return line +
         wrapped(option->get_description() + (option->get_required() ? " (required)" : ""), kTextColumn);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const std::string& footer = app->get_footer();
  return (footer.empty() ? "" : footer + "\n") + examples_;
}

}  // namespace carbon
