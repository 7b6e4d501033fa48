#include "src/cli/help_formatter.hpp"

#include <algorithm>
#include <utility>

namespace carbon {
namespace {

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
    : usage_(std::move(usage)), examples_(examples_help(examples)) {}

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
  return option_help(names_and_type(*option),
                     option->get_description() + (option->get_required() ? " (required)" : ""));
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  const std::string& footer = app->get_footer();
  return footer + (footer.empty() || examples_.empty() ? "" : "\n") + examples_;
}

}  // namespace carbon
