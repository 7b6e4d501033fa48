// A command's options as a table of rows, from which its command line is parsed, its --help is printed and
// the completion of the shells is made (docs/conventions.md, "Command line").
//
// A command fills in the table in its declare_NAME(). No other code knows options by their names, except for
// the advice of errors (advice.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/help_lines.hpp"
#include "src/base/words.hpp"
#include "src/files/run_files.hpp"

namespace carbon {

/// What a value names: for a shell that completes it, and for the register of the files that a run reads and
/// writes (src/files/run_files.hpp). There is no file that is neither read nor written.
enum class Names { nothing, input, output, directory, model, adapter };

/// A value as --help writes it behind the names of an option, e.g. "INT", and what it names.
struct ValueType {
  constexpr ValueType(const char* shown, Names names = Names::nothing) : shown(shown), names(names) {}
  const char* shown;
  Names names;
};

inline constexpr ValueType kFlag = "", kInput = {"FILE", Names::input}, kOutput = {"FILE", Names::output},
                           kDirectory = {"DIR", Names::directory}, kModel = {"DIR|FILE|NAME", Names::model},
                           kAdapter = {"DIR", Names::adapter};

/// Where a value goes when the command line is parsed. A function gets the text of the value, or for a flag
/// nothing.
using Target = std::variant<std::monostate, bool*, std::function<void()>, std::string*,
                            std::vector<std::string>*, int*, uint16_t*, int64_t*, size_t*, double*,
                            std::optional<int64_t>*, std::function<void(const std::string&)>>;

/// A row of the table. The methods fill in columns that few options have, and return the row.
struct Option {
  char letter = '\0';     // of -o; none: '\0'
  std::string name = {};  // of --output; of an argument that is not an option: what messages call it
  ValueType value = kFlag;
  std::string help = {};
  std::string heading = {};  // the part of --help in which the option stands; "" for an argument
  std::string now = {};      // the value before the command line is read, if it can be written
  std::string fallback = {};
  std::vector<std::string> words = {};
  std::string left_out = {};  // of an attached value: the value where there is none
  bool only_words = false, attached = false, is_required = false, repeats = false, greedy = false;
  bool read_once = false;  // of an input
  std::variant<std::monostate, std::pair<size_t, size_t>, std::pair<double, double>> limits = {};
  std::vector<std::string> excluded = {}, needed = {};  // names of other options
  Target target = {};
  size_t count = 0;  // how often the parsed command line had it

  /// --help says which value holds without the option: the one that the target has when it is declared.
  Option& shows_default() { return shows_default(now); }
  Option& shows_default(std::string text) {
    fallback = std::move(text);
    return *this;
  }
  /// Every other value is refused.
  Option& one_of(std::vector<std::string> names) {
    only_words = true;
    return offers(std::move(names));
  }
  /// Shells offer these words; other values may be good as well.
  Option& offers(std::vector<std::string> names) {
    words = std::move(names);
    return *this;
  }
  /// The value may be left out, and is then `otherwise`, the first of the words. It stands only behind a =,
  /// or directly behind the letter.
  Option& only_attached() { return only_attached(words.front()); }
  Option& only_attached(std::string otherwise) {
    attached = true;
    left_out = std::move(otherwise);
    return *this;
  }
  /// Limits of a number, which are included.
  template <class Least, class Most>
  Option& range(Least least, Most most) {
    if constexpr (std::is_floating_point_v<Least>)
      limits = std::pair<double, double>(least, most);
    else
      limits = std::pair<size_t, size_t>(least, most);
    return *this;
  }
  Option& required() {
    is_required = true;
    return *this;
  }
  /// Several values may follow one name.
  Option& takes_several() {
    greedy = true;
    return *this;
  }
  Option& excludes(std::string other) {
    excluded.push_back(std::move(other));
    return *this;
  }
  Option& needs(std::string other) {
    needed.push_back(std::move(other));
    return *this;
  }

  bool is_flag() const { return *value.shown == '\0' && !attached; }
  /// A number as messages and --help show it, without zeros that say nothing.
  static std::string written(double value);
  /// The value as --help shows it.
  std::string shown_value() const;
  /// The help with what holds without the option.
  std::string full_help() const { return help + (fallback.empty() ? "" : " (default: " + fallback + ")"); }
};

/// The columns that every option has; few have a letter.
struct OptionHead {
  OptionHead(char letter, std::string name, ValueType value, std::string help)
      : letter(letter), name(std::move(name)), value(value), help(std::move(help)) {}
  OptionHead(std::string name, ValueType value, std::string help)
      : OptionHead('\0', std::move(name), value, std::move(help)) {}

  char letter;
  std::string name;
  ValueType value;
  std::string help;
};

/// The options under one heading of --help. A light handle: copy it.
class OptionGroup {
 public:
  OptionGroup(std::deque<Option>& rows, std::string heading) : rows_(&rows), heading_(std::move(heading)) {}

  /// `target` gets the value: text, a number, several texts (then the option may be repeated), or a function
  /// that takes the text and throws Error if it cannot be a value.
  template <class T>
  Option& option(OptionHead head, T& target) {
    Option& row = add(std::move(head), &target);
    row.repeats = std::is_same_v<T, std::vector<std::string>>;
    if constexpr (std::is_arithmetic_v<T>) row.now = Option::written(static_cast<double>(target));
    if constexpr (std::is_same_v<T, std::string>) row.now = target;
    return row;
  }
  Option& option(OptionHead head, std::function<void(const std::string&)> take) {
    return add(std::move(head), std::move(take));
  }
  /// The value is one of the words of a table. `target` may be optional.
  template <class T, class V, size_t N>
  Option& option(OptionHead head, T& target, const Word<V> (&words)[N]) {
    Option& row = add(std::move(head), std::function<void(const std::string&)>([&](const std::string& text) {
                        target = *value_of(words, text);
                      }));
    if constexpr (std::is_same_v<T, V>) row.now = word_of(words, target);
    return row.one_of(all_words(words));
  }
  /// A flag makes `target` true.
  Option& flag(char letter, std::string name, std::string help, bool& target) {
    return add({letter, std::move(name), kFlag, std::move(help)}, &target);
  }
  Option& flag(std::string name, std::string help, bool& target) {
    return flag('\0', std::move(name), std::move(help), target);
  }
  /// A flag that calls a function.
  Option& action(char letter, std::string name, std::string help, std::function<void()> call) {
    return add({letter, std::move(name), kFlag, std::move(help)}, std::move(call));
  }
  Option& action(std::string name, std::string help, std::function<void()> call) {
    return action('\0', std::move(name), std::move(help), std::move(call));
  }

 private:
  Option& add(OptionHead head, Target target) {
    return rows_->emplace_back(Option{.letter = head.letter,
                                      .name = std::move(head.name),
                                      .value = head.value,
                                      .help = std::move(head.help),
                                      .heading = heading_,
                                      .target = std::move(target)});
  }

  std::deque<Option>* rows_;  // whose rows stay where they are
  std::string heading_;
};

/// The options and arguments of one command, and its command line once that is parsed.
class CommandLine {
 public:
  /// `command` as users write it behind `carbon`: vep, +rank. Has no row yet but that of --help, if it is
  /// to have that.
  explicit CommandLine(std::string command, bool has_help = true);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What --help says before the options (what the command does, a line of usage) and after them.
  void describe(std::string about, std::string usage, std::vector<Example> examples = {},
                std::string footer = "");
  OptionGroup group(std::string heading) { return {rows_, std::move(heading)}; }
  /// The options without a heading of their own.
  OptionGroup options() { return group("Options"); }
  /// The argument that is not an option, an input: one, or with a vector several. The command opens it once,
  /// so that what comes from a pipe is not copied, unless it says in `use` that it reads it again. Options
  /// may always be read again.
  void argument(std::string name, std::string& target);
  void arguments(std::string name, std::vector<std::string>& targets, bool several = true,
                 InputUse use = InputUse::once);
  /// `call` runs when a command line was parsed without an error and its files are declared, and may throw
  /// Error.
  void after_parsing(std::function<void()> call) { after_.push_back(std::move(call)); }

  /// Reads the words of argv, of which the first is not read, into the targets. Returns the exit status if
  /// the command ends here: 0 after --help (on standard output), 1 after an error (a line with a hint).
  /// Declares the files that the words name. Throws Error, too, for one if an output would replace an input.
  std::optional<int> parse(int argc, char** argv);

  /// Was the option on the command line?
  bool given(const std::string& name) const;
  /// The names of those that were.
  std::vector<std::string> given_names() const;
  /// What was parsed, for a header line.
  const std::string& text() const { return text_; }
  /// The words of what was parsed, with full names of long options; the first is that of the command.
  const std::vector<std::string>& words() const { return words_; }
  const std::string& command() const { return command_; }
  const std::deque<Option>& rows() const { return rows_; }
  /// The row of "--name" or "-n", or null.
  const Option* find(const std::string& written) const;
  std::string help() const;
  /// The part of it that lists the options.
  std::string options_help() const;
  /// What the command does, its usage, an example, and how to get the rest.
  std::string short_help() const;

 private:
  std::string command_, about_, usage_, footer_, text_;
  std::vector<std::string> words_;
  std::vector<Example> examples_;
  std::deque<Option> rows_;
  std::vector<std::function<void()>> after_;
};

/// The names of an option as --help writes them: "-o,--output".
std::string names_of(const Option& option);

/// Declares (src/files/run_files.hpp) the files of a model that a command line names, as path or name, or of
/// an adapter; "" is the model of a run for which none is named. Says nothing of what is not one: whoever
/// opens it reports that. Throws Error, from `function`, if an output would replace one of them.
void declare_model(const std::string& model, const std::string& function);

/// The words of a command line for a header line: those with white space in single quotes, as bcftools writes
/// them.
std::string command_text(int argc, char** argv);

/// A command declares its options with this type of result: the function that runs it once they are parsed.
/// It returns the exit status.
using Run = std::function<int(const CommandLine&)>;

}  // namespace carbon
