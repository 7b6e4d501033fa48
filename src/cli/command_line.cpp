#include "src/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "src/base/near_names.hpp"
#include "src/cli/argument_words.hpp"
#include "src/cli/stderr_log.hpp"

namespace carbon {

std::string Option::written(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

namespace {

// Validators of CLI11, without the description that it would add to the type in its messages. The messages
// are of our own, because those of CLI11 differ between its versions.
CLI::Validator checked(std::function<bool(const std::string&)> good, const std::string& expected) {
  return CLI::Validator(
      [good = std::move(good), expected](const std::string& text) {
        return good(text) ? std::string() : "expected " + expected + ", not '" + text + "'";
      },
      "");
}

CLI::Validator among(const std::vector<std::string>& words) {
  return checked(
      [words](const std::string& text) { return std::find(words.begin(), words.end(), text) != words.end(); },
      or_list(words));
}

template <class T>
CLI::Validator within(T least, T most, const std::string& least_text, const std::string& most_text) {
  return checked([range = CLI::Range(least, most)](const std::string& text) { return range(text).empty(); },
                 "a number from " + least_text + " to " + most_text);
}

// Adds an option of CLI11 that fills in a target.
struct Adder {
  CLI::App& app;
  std::string names;
  CLI::Option* operator()(std::monostate) const { return app.set_help_flag(names); }
  CLI::Option* operator()(bool* target) const { return app.add_flag(names, *target); }
  CLI::Option* operator()(const std::function<void()>& call) const {
    return app.add_flag_callback(names, call);
  }
  CLI::Option* operator()(const std::function<void(const std::string&)>& take) const {
    return app.add_option_function<std::string>(names, take);
  }
  template <class T>
  CLI::Option* operator()(T* target) const {
    return app.add_option(names, *target);
  }
};

CLI::Option* add_row(CLI::App& app, const Option& row) {
  CLI::Option* const option =
      std::visit(Adder{app, row.heading.empty() ? row.name : names_of(row)}, row.target);
  if (row.is_required) option->required();
  if (row.is_flag()) return option;
  option->type_name(row.shown_value());
  if (row.repeats && !row.heading.empty()) option->allow_extra_args(row.greedy);
  if (row.heading.empty() && std::holds_alternative<std::vector<std::string>*>(row.target))
    option->expected(1, row.repeats ? -1 : 1);  // -1: any number
  if (row.only_words) option->check(among(row.words));
  if (const auto* whole = std::get_if<1>(&row.limits))
    option->check(
        within(whole->first, whole->second, std::to_string(whole->first), std::to_string(whole->second)));
  if (const auto* real = std::get_if<2>(&row.limits))
    option->check(
        within(real->first, real->second, Option::written(real->first), Option::written(real->second)));
  return option;
}

}  // namespace

std::string Option::shown_value() const {
  if (!attached) return value.shown;
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "[=" : "|") + word;
  return text + "]";
}

std::string names_of(const Option& option) {
  return (option.letter == '\0' ? "--" : std::string("-") + option.letter + ",--") + option.name;
}

CommandLine::CommandLine(std::string command) : command_(std::move(command)) {
  rows_.push_back(
      {.letter = 'h', .name = "help", .help = "Print this help message and exit", .heading = "Options"});
}

void CommandLine::describe(std::string about, std::string usage, std::vector<Example> examples,
                           std::string footer) {
  about_ = std::move(about);
  usage_ = std::move(usage);
  examples_ = std::move(examples);
  footer_ = std::move(footer);
}

void CommandLine::argument(std::string name, std::string& target) {
  rows_.push_back({.name = std::move(name), .value = kFile, .target = &target});
}

void CommandLine::arguments(std::string name, std::vector<std::string>& targets, bool several) {
  rows_.push_back({.name = std::move(name), .value = kFile, .repeats = several, .target = &targets});
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  text_ = command_text(argc, argv);
  const std::string name = "carbon " + command_;
  CLI::App app(about_, name);
  std::vector<CLI::Option*> made;
  for (const Option& row : rows_) made.push_back(add_row(app, row));
  const auto made_of = [&](const std::string& other) {
    const auto row =
        std::find_if(rows_.begin(), rows_.end(), [&](const Option& r) { return r.name == other; });
    return made.at(static_cast<size_t>(row - rows_.begin()));
  };
  for (size_t i = 0; i < rows_.size(); ++i) {
    for (const std::string& other : rows_[i].excluded) made[i]->excludes(made_of(other));
    for (const std::string& other : rows_[i].needed) made[i]->needs(made_of(other));
  }
  ArgumentWords words(rows_, argc, argv, command_);
  try {
    app.parse(words.count(), words.argv());
  } catch (const CLI::CallForHelp&) {
    std::cout << help() << std::flush;
    return std::cout ? 0 : 1;
  } catch (const CLI::ParseError& e) {
    program_log().error("main_" + command_, std::string(e.what()) + "; see '" + name + " --help'");
    return 1;
  }
  for (size_t i = 0; i < rows_.size(); ++i) rows_[i].count = made[i]->count();
  for (const std::function<void()>& call : after_) call();
  return std::nullopt;
}

bool CommandLine::given(const std::string& name) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const Option& row) { return row.name == name && row.count > 0; });
}

const Option* CommandLine::find(const std::string& written) const {
  for (const Option& row : rows_) {
    if (row.heading.empty()) continue;
    if (written == "--" + row.name || (row.letter != '\0' && written == std::string("-") + row.letter))
      return &row;
  }
  return nullptr;
}

std::string CommandLine::help() const {
  std::vector<std::string> headings;
  for (const Option& row : rows_)
    if (!row.heading.empty() && std::find(headings.begin(), headings.end(), row.heading) == headings.end())
      headings.push_back(row.heading);
  std::string text = about_ + "\nUsage: " + usage_ + "\n";
  for (const std::string& heading : headings) {
    text += "\n" + heading + ":\n";
    for (const Option& row : rows_) {
      if (row.heading != heading) continue;
      const std::string value = row.shown_value();
      text += option_help(names_of(row) + (row.is_flag() ? "" : " ") + value,
                          row.full_help() + (row.is_required ? " (required)" : ""));
    }
  }
  const std::string examples = examples_help(examples_);
  return text + "\n" + footer_ + (footer_.empty() || examples.empty() ? "" : "\n") + examples;
}

std::string command_text(int argc, char** argv) {
  std::string line = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool quote = argument.find_first_of(" \t\n") != std::string::npos;
    line += quote ? " '" + argument + "'" : " " + argument;
  }
  for (char& c : line)
    if (c == '\n') c = ' ';  // a header line cannot hold one
  return line;
}

}  // namespace carbon
