// What every subcommand's option parsing shares: exit codes, help, and the common options
// (docs/conventions.md, "Command line").
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/progress.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/words.hpp"
#include "src/cli/help_formatter.hpp"
#include "src/engine/engine.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {

/// Parses argv, read by ArgumentWords, into `app`. Returns -1 to go on, else the exit code: 0 after --help
/// (on stdout), 1 after a usage error (one line and a hint on stderr). CLI11's own exit codes never leave
/// this function.
int parse_options(CLI::App& app, int argc, char** argv, const std::string& command);
/// The next parse_options() hands its app to `look` instead and returns 0, which ends the command.
void describe_options(std::function<void(CLI::App&)> look);

/// Options of every command that runs a model.
struct CommonOptions {
  ModelOptions model;
  ProgressMode progress = ProgressMode::automatic;
};

/// Adds -m, --rope-scaling, --device, --dtype, -@, --batch-tokens, --progress, -q, -v, --log-json to `app`.
/// Values land in `options` when the app is parsed; verbosity takes effect at once. A parsed app then says,
/// as information, which device is automatic.
void add_common_options(CLI::App& app, CommonOptions& options);

/// Adds -r and -R; `verb` is what the command does to a region, for the help.
void add_region_options(CLI::App& app, SequenceInputs& inputs, const std::string& verb);
/// Adds --strand with the values +, - and both.
void add_strand_option(CLI::App& app, StrandChoice& strand, const std::string& help);

/// Adds --resume and --restart.
void add_resume_options(CLI::App& app, EarlierRun& earlier);

/// For an option with named values: turns a name into the number of its value, which CLI11 stores, and
/// refuses every other text. (CLI11's own transformers take the numbers as well.)
CLI::Validator numbered_choice(std::vector<std::pair<std::string, int>> choices);
template <class T, size_t N>
CLI::Validator choice_of(const Word<T> (&words)[N]) {
  std::vector<std::pair<std::string, int>> numbered;
  for (const auto& [word, value] : words) numbered.emplace_back(word, static_cast<int>(value));
  return numbered_choice(std::move(numbered));
}

/// Calls `parse`. If it throws SettingError, whose message begins with the name of the setting, an Error says
/// the same with the dashes of the option.
void with_dashes(const std::string& function, const std::function<void()>& parse);

/// For an option with named values that is stored as text: refuses every other text.
CLI::Validator one_of(const std::vector<std::string>& names);

/// The usage line of --help, e.g. "carbon score [options] <seqs.fa[.gz]>... | -", and the examples at its
/// end.
void set_usage(CLI::App& app, const std::string& usage, const std::vector<Example>& examples = {});

/// Of carbon's own messages and of htslib's.
void set_message_level(int level);

/// --progress alone, which add_common_options() includes.
void add_progress_option(CLI::App& app, ProgressMode& mode);

/// Adds -r, -R, -t, -T and how a record overlaps them.
void add_selection_options(CLI::App& app, VcfReaderOptions& selection);

/// -q, -v and --log-json alone, for commands without a model.
void add_verbosity_options(CLI::App& app);

/// The words of a command line for a header line: those with white space in single quotes, as bcftools writes
/// them.
std::string command_line(int argc, char** argv);

/// The input when none is named: "-" if stdin is not a terminal; else prints the usage on stderr and returns
/// "".
std::string default_input(const CLI::App& app);
/// The same for commands of several files: sets `inputs.files` where it is empty; false after the usage.
bool default_inputs(const CLI::App& app, SequenceInputs& inputs);

}  // namespace carbon
