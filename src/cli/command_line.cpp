#include "src/cli/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/help_lines.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/run_files.hpp"
#include "src/model/model_files.hpp"
#include "src/model/registry.hpp"

namespace carbon {

std::string Option::written(double value) {
  return general_text(value, 15);
}

namespace {

// Where a model lies that is named by path or name; "" if there is none.
std::string place_of(const std::string& model) {
  if (path_exists(model)) return model;
  try {
    return model.empty() ? default_model() : resolve_model(model);
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void declare_model(const std::string& model, const std::string& function) {
  for (const std::string& file : files_of_model(place_of(model)))
    declare_input(file, InputUse::once, function);
}

namespace {

// Validators of CLI11, without the description that it would add to the type in its messages.

CLI::Validator among(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    const bool known = std::find(words.begin(), words.end(), text) != words.end();
    return known ? std::string() : "expected " + or_list(words) + ", not '" + text + "'";
  };
  return CLI::Validator(check, "");
}

// Versions of CLI11 differ in the numbers that they read: 010 and 0x8 as 8, 1_000 as 1000, -1 as the largest
// number. So the number is read here, and what CLI11 reads is its plain decimal text.
template <class T>
CLI::Validator number_from(T least, T most, const std::string& expected) {
  const auto read = [=](std::string& text) {
    T value{};
    const char *begin = text.data(), *const end = begin + text.size();
    if (text.starts_with('+') && !text.starts_with("+-")) ++begin;
    if (!parse_number({begin, end}, value) || !(least <= value && value <= most))
      return "expected " + expected + ", not '" + text + "'";
    text = std::is_integral_v<T> ? std::to_string(value) : std::string(begin, end);
    return std::string();
  };
  return CLI::Validator(read, "");
}

template <class T>
CLI::Validator number(const Option& row) {
  using Limits = std::numeric_limits<T>;
  const auto range = [](const std::string& least, const std::string& most) {
    return "a number from " + least + " to " + most;
  };
  if (const auto* real = std::get_if<2>(&row.limits))
    return number_from(real->first, real->second,
                       real->second == std::numeric_limits<double>::max()
                           ? "a number of at least " + Option::written(real->first)
                           : range(Option::written(real->first), Option::written(real->second)));
  if (const auto* whole = std::get_if<1>(&row.limits))
    return number_from(whole->first, whole->second,
                       range(std::to_string(whole->first), std::to_string(whole->second)));
  return number_from(Limits::lowest(), Limits::max(),
                     std::is_unsigned_v<T>   ? range("0", std::to_string(Limits::max()))
                     : std::is_integral_v<T> ? "a whole number"
                                             : "a number");
}

// Adds an option of CLI11 that fills in a target.
struct Adder {
  CLI::App& app;
  const Option& row;
  std::string names = row.heading.empty() ? row.name : names_of(row);

  CLI::Option* operator()(std::monostate) const { return app.set_help_flag(names); }
  CLI::Option* operator()(bool* target) const { return app.add_flag(names, *target); }
  CLI::Option* operator()(const std::function<void()>& call) const {
    return app.add_flag_callback(names, call);
  }
  CLI::Option* operator()(const std::function<void(const std::string&)>& take) const {
    const auto each = [take](const std::vector<std::string>& values) {
      for (const std::string& value : values) take(value);
    };
    CLI::Option* const option =
        row.repeats ? app.add_option_function<std::vector<std::string>>(names, each)->allow_extra_args(false)
                    : app.add_option_function<std::string>(names, take);
    return row.limits.index() == 0 ? option : checked<size_t>(option);
  }
  CLI::Option* operator()(std::string* target) const { return app.add_option(names, *target); }
  CLI::Option* operator()(std::vector<std::string>* targets) const {
    CLI::Option* const option = app.add_option(names, *targets);
    if (row.heading.empty()) return option->expected(1, row.repeats ? -1 : 1);  // -1: any number
    return option->allow_extra_args(row.greedy);
  }
  CLI::Option* operator()(std::optional<int64_t>* target) const {
    return checked<int64_t>(app.add_option(names, *target));
  }
  template <class T>
  CLI::Option* operator()(T* target) const {
    return checked<T>(app.add_option(names, *target));
  }
  // Where words are listed, they are the numbers.
  template <class T>
  CLI::Option* checked(CLI::Option* option) const {
    return row.only_words ? option : option->transform(number<T>(row));
  }
};

CLI::Option* add_row(CLI::App& app, const Option& row) {
  CLI::Option* const option = std::visit(Adder{app, row}, row.target);
  if (row.is_required) option->required();
  if (row.is_flag()) return option;
  option->type_name(row.shown_value());
  if (row.only_words) option->check(among(row.words));
  return option;
}

void declare_inputs(const Option& row, const std::vector<std::string>& values, const std::string& function) {
  const bool may_exclude = std::string_view(row.value.shown).starts_with("[^]");
  for (const std::string& value : values) {
    if (row.value.names == Names::input)
      declare_input(may_exclude && value.starts_with('^') ? value.substr(1) : value,
                    row.read_once ? InputUse::once : InputUse::again, function);
    if (row.value.names == Names::model || row.value.names == Names::adapter) declare_model(value, function);
  }
}

void declare_outputs(const Option& row, const std::vector<std::string>& values, const std::string& function) {
  if (row.value.names != Names::output) return;
  for (const std::string& value : values) declare_output(value, function);
}

}  // namespace

std::string Option::shown_value() const {
  if (!attached) return value.shown;
  std::string text = words.empty() ? std::string("[=") + value.shown : "";
  for (const std::string& word : words) text += (text.empty() ? "[=" : "|") + word;
  return text + "]";
}

std::string names_of(const Option& option) {
  return (option.letter == '\0' ? "--" : std::string("-") + option.letter + ",--") + option.name;
}

namespace {

// The words of a command line as CLI11 is to see them: with the full names of long options, and with attached
// values where an option may stand without one.
//
// CLI11 wants full names, complains about an unknown option only after it has missed a required one, and
// gives the word after a lone -W to it.
//
// The words of argv as they are, but
// - a long option may be written as any beginning of its name that no other option has (as getopt allows),
// - an option that takes only an attached value gets the one that stands for none if there is none: -W, -WB,
// -W=B
//   and --write-index=B.
// Throws Error, from `main_COMMAND`, for an option that is not in the table or that is ambiguous, with the
// options that may have been meant, for every value and argument that is empty (none may be), and for an
// option without its value.
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

ArgumentWords::ArgumentWords(const std::deque<Option>& rows, int argc, char** argv, std::string command)
    : command_(std::move(command)) {
  for (const Option& row : rows)
    if (!row.heading.empty()) options_.push_back(&row);
  if (argc > 0) words_.emplace_back(argv[0]);
  int i = 1;
  for (; i < argc && (!wants_value_.empty() || std::string(argv[i]) != "--"); ++i) {
    const std::string word = argv[i];
    if (!wants_value_.empty()) {
      add_value(word);
    } else if (word.starts_with("--")) {
      add_long(word);
    } else if (word.starts_with('-') && word.size() > 1) {
      add_short(word);
    } else {
      add_value(word);
    }
  }
  if (!wants_value_.empty()) fail(wants_value_ + " needs a value: " + wanted_->shown_value());
  for (; i < argc; ++i) add_value(argv[i]);
  for (std::string& word : words_) pointers_.push_back(word.data());
  pointers_.push_back(nullptr);
}

void ArgumentWords::fail(const std::string& what) const {
  throw Error("main_" + command_, what + "; see 'carbon " + command_ + " --help'");
}

// The value of an option, or an argument that belongs to none.
void ArgumentWords::add_value(const std::string& word) {
  if (word.empty()) fail(empty_value(wants_value_.empty() ? "an argument" : wants_value_));
  // A file of such a name can be given as ./NAME.
  const Option* const before = std::exchange(without_value_, nullptr);
  const auto could_be_value = [&](const Option& option) {
    if (!option.words.empty()) return std::ranges::find(option.words, word) != option.words.end();
    return is_digit(word.front()) && access(word.c_str(), F_OK) != 0;
  };
  if (wants_value_.empty() && before && could_be_value(*before))
    fail("the value of --" + before->name + " stands directly behind it: --" + before->name + "=" + word);
  wants_value_.clear();
  words_.push_back(word);
}

// The word that follows an option without an attached value is its value, whatever it looks like.
void ArgumentWords::expect_value(const Option& option, const std::string& name) {
  if (option.is_flag()) return;
  wants_value_ = name;
  wanted_ = &option;
}

void ArgumentWords::add_attached(const Option& option, const std::string& value, bool given) {
  const std::string name = "--" + option.name + "=";
  if (given && value.empty())
    fail(name + " is empty: expected " + (option.words.empty() ? option.value.shown : or_list(option.words)));
  words_.push_back(name + (given ? value : option.left_out));
  without_value_ = given ? nullptr : &option;
}

void ArgumentWords::add_long(const std::string& word) {
  const size_t equals = word.find('=');
  const bool given = equals != std::string::npos;
  const std::string name = full_name(word.substr(2, given ? equals - 2 : equals));
  const Option& option = **std::find_if(options_.begin(), options_.end(),
                                        [&](const Option* candidate) { return candidate->name == name; });
  if (option.attached) {
    add_attached(option, given ? word.substr(equals + 1) : "", given);
    return;
  }
  if (given && equals + 1 == word.size()) fail(empty_value("--" + name));
  words_.push_back("--" + name + (given ? word.substr(equals) : ""));
  if (!given) expect_value(option, "--" + name);
}

std::string ArgumentWords::full_name(const std::string& start) const {
  std::vector<std::string> begin_so;
  for (const Option* option : options_) {
    if (option->name == start) return start;
    if (!start.empty() && option->name.starts_with(start)) begin_so.push_back("--" + option->name);
  }
  if (begin_so.size() == 1) return begin_so.front().substr(2);
  if (begin_so.empty())
    fail("unrecognized option '--" + start + "'" + did_you_mean("--" + start, long_names()));
  fail("option '--" + start + "' could be " + or_list(begin_so));
}

std::vector<std::string> ArgumentWords::long_names() const {
  std::vector<std::string> names;
  for (const Option* option : options_) names.push_back("--" + option->name);
  return names;
}

// Letters of flags, and then perhaps one that takes the rest of the word, or the next, as its value.
void ArgumentWords::add_short(const std::string& word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const Option* candidate) { return candidate->letter == word[at]; });
    if (found == options_.end())
      fail("unrecognized option '-" + std::string(1, word[at]) + "'" +
           (word.size() > 2 ? " in '" + word + "'" : "") +
           (word.size() > 3 ? did_you_mean("-" + word, long_names()) : ""));
    const Option& option = **found;
    if (option.attached) {
      if (at > 1) words_.push_back(word.substr(0, at));
      const size_t value = at + 1 < word.size() && word[at + 1] == '=' ? at + 2 : at + 1;
      add_attached(option, word.substr(value), at + 1 < word.size());
      return;
    }
    if (option.is_flag()) continue;
    if (at + 1 == word.size()) expect_value(option, "-" + std::string(1, word[at]));
    break;
  }
  words_.push_back(word);
}

}  // namespace

CommandLine::CommandLine(std::string command, bool has_help) : command_(std::move(command)) {
  if (!has_help) return;
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
  rows_.push_back({.name = std::move(name), .value = kInput, .read_once = true, .target = &target});
}

void CommandLine::arguments(std::string name, std::vector<std::string>& targets, bool several, InputUse use) {
  rows_.push_back({.name = std::move(name),
                   .value = kInput,
                   .repeats = several,
                   .read_once = use == InputUse::once,
                   .target = &targets});
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  text_ = command_text(argc, argv);
  const std::string name = "carbon " + command_;
  CLI::App app(about_, name);
  app.set_help_flag();  // a row of the table, if there is one
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
  words_ = words.words();
  try {
    app.parse(words.count(), words.argv());
  } catch (const CLI::CallForHelp&) {
    std::cout << help() << std::flush;
    return std::cout ? 0 : 1;
  } catch (const CLI::ExtrasError&) {
    std::string text = "'" + app.remaining().front() + "' is one argument too many";
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].heading.empty() && made[i]->count() > 0)
        text += ", after '" + made[i]->results().back() + "'";
    program_log().error("main_" + command_, text + "; see '" + name + " --help'");
    return 1;
  } catch (const CLI::RequiredError& e) {
    std::string text = e.what();
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].is_required && text == made[i]->get_name() + " is required")
        text = made[i]->get_name() + " is missing: " + rows_[i].help;
    program_log().error("main_" + command_, text + "; see '" + name + " --help'");
    return 1;
  } catch (const CLI::ParseError& e) {
    program_log().error("main_" + command_, std::string(e.what()) + "; see '" + name + " --help'");
    return 1;
  }
  for (size_t i = 0; i < rows_.size(); ++i) rows_[i].count = made[i]->count();
  for (size_t i = 0; i < rows_.size(); ++i) declare_inputs(rows_[i], made[i]->results(), "main_" + command_);
  for (size_t i = 0; i < rows_.size(); ++i) declare_outputs(rows_[i], made[i]->results(), "main_" + command_);
  for (const std::function<void()>& call : after_) call();
  return std::nullopt;
}

bool CommandLine::given(const std::string& name) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const Option& row) { return row.name == name && row.count > 0; });
}

std::vector<std::string> CommandLine::given_names() const {
  std::vector<std::string> names;
  for (const Option& row : rows_)
    if (row.count > 0) names.push_back(row.name);
  return names;
}

const Option* CommandLine::find(const std::string& written) const {
  for (const Option& row : rows_) {
    if (row.heading.empty()) continue;
    if (written == "--" + row.name || (row.letter != '\0' && written == std::string("-") + row.letter))
      return &row;
  }
  return nullptr;
}

std::string CommandLine::options_help() const {
  std::vector<std::string> headings;
  for (const Option& row : rows_)
    if (!row.heading.empty() && std::find(headings.begin(), headings.end(), row.heading) == headings.end())
      headings.push_back(row.heading);
  std::string text;
  for (const std::string& heading : headings) {
    text += (text.empty() ? "" : "\n") + heading + ":\n";
    for (const Option& row : rows_) {
      if (row.heading != heading) continue;
      const std::string value = row.shown_value();
      text += option_help(names_of(row) + (row.is_flag() ? "" : " ") + value,
                          row.full_help() + (row.is_required ? " (required)" : ""));
    }
  }
  return text;
}

std::string CommandLine::help() const {
  const std::string examples = examples_help(examples_);
  return about_ + "\nUsage: " + usage_ + "\n\n" + options_help() + "\n" + footer_ +
         (footer_.empty() || examples.empty() ? "" : "\n") + examples;
}

std::string CommandLine::short_help() const {
  const std::string example = examples_.empty() ? "" : "Example: " + examples_.front().line + "\n";
  return about_ + "\nUsage: " + usage_ + "\n" + example +
         "No input is named, and standard input is a terminal.\nAll options: carbon " + command_ +
         " --help\n";
}

std::string command_text(int argc, char** argv) {
  std::string line = argv[0];
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool quote = argument.find_first_of(" \t\n") != std::string::npos;
    line += quote ? " '" + argument + "'" : " " + argument;
  }
  for (char& c : line)
    // A header line cannot hold a line break of any kind that readers of tables know.
    if (c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) c = ' ';
  return line;
}

}  // namespace carbon
