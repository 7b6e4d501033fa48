// How --help looks: at most 100 columns, a list of the options by group, and examples at the end.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/base/help_lines.hpp"

namespace carbon {

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::string usage, const std::vector<Example>& examples);

  std::string make_usage(const CLI::App*, std::string) const override;
  std::string make_positionals(const CLI::App*) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  std::string usage_, examples_;
};

}  // namespace carbon
