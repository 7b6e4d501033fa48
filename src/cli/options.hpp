// The options that several commands share, with what they mean.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/signals.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/engine/engine.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {

/// Options of every command that runs a model.
struct CommonOptions {
  ModelOptions model;
  ProgressMode progress = ProgressMode::automatic;
};

/// Adds -m, --rope-scaling, --lora, --device, --dtype, -@, --batch-tokens, --progress, -q, -v, --log-json.
/// The model.use that is set by then says whether the bundled model is a default of -m. A parsed command line
/// says, as information, which device is automatic.
void add_common_options(CommandLine& line, CommonOptions& options);
/// --progress alone, which add_common_options() includes.
void add_progress_option(CommandLine& line, ProgressMode& mode);
/// -q, -v and --log-json alone, for commands without a model. They take effect when they are read.
void add_verbosity_options(CommandLine& line);

/// Adds the settings of a verb below a heading of --help. What they set must outlive the command line.
void add_settings(CommandLine& line, const std::string& heading, const SettingList& settings);

/// Adds -r and -R; `verb` is what the command does to a region, for the help.
void add_region_options(CommandLine& line, SequenceInputs& inputs, const std::string& verb);
/// Adds -r, -R, -t, -T and how a record overlaps them.
void add_selection_options(CommandLine& line, VcfReaderOptions& selection);
/// -r and -R alone, for a selection that has `regions` and `regions_file`. `help` is that of -r.
template <class Selection>
void add_region_lists(OptionGroup& group, const std::string& help, Selection& selection) {
  group.option({'r', "regions", "LIST", help}, selection.regions);
  group
      .option({'R', "regions-file", kInput,
               "like -r, with regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]"},
              selection.regions_file)
      .excludes("regions");
}
/// The same for -t and -T.
template <class Selection>
void add_target_lists(OptionGroup& group, const std::string& help, const std::string& file_help,
                      Selection& selection) {
  group.option({'t', "targets", "[^]LIST", help}, selection.targets);
  group.option({'T', "targets-file", {"[^]FILE", Names::input}, file_help}, selection.targets_file)
      .excludes("targets");
}
/// Adds -o, for text.
void add_text_output_option(CommandLine& line, std::string& output);
/// Adds -W, an index of the output.
void add_index_option(CommandLine& line, std::string& kind);
/// Adds --resume and --restart.
void add_resume_options(CommandLine& line, EarlierRun& earlier);
/// Adds --no-version, and takes down the command line.
void add_record_option(CommandLine& line, CommandRecord& record);
/// Adds --estimate.
void add_estimate_option(CommandLine& line, bool& estimate);
/// Adds --estimate[=TIME] of the commands that have --shard: with a time, it proposes shares that take no
/// longer each.
void add_estimate_option(CommandLine& line, EstimateOptions& estimate);

/// Adds --prefix, --species, --gene-type and --tag-grammar below a heading: what a sequence is said to be. A
/// parsed command line throws Error for names that are not tags.
void add_metadata_options(CommandLine& line, const std::string& heading, MetadataChoice& metadata);

struct DraftChoice {
  std::string model;  // "": none
  std::string tokens = "auto";
};
/// Adds --draft and --draft-tokens. `what`: what a draft never changes, e.g. "the output".
void add_draft_options(CommandLine& line, DraftChoice& draft, const std::string& what);
/// The number of --draft-tokens; none for auto. Throws Error for another text.
std::optional<size_t> draft_tokens(const DraftChoice& draft);
/// Loads the draft as `model` is loaded, if one was chosen.
std::optional<LoadedModels> load_draft(const DraftChoice& draft, ModelOptions model);

/// The input when none is named: "-" if stdin is not a terminal; else prints the usage on stderr and returns
/// "".
std::string default_input(const CommandLine& line);
/// The same for commands of several files: sets `inputs.files` where it is empty; false after the usage.
bool default_inputs(const CommandLine& line, SequenceInputs& inputs);

/// Calls `run` with an engine for the model that was chosen, and with the log, the progress and the signals
/// of this program among the options.
template <class Options>
void run_with_engine(const CommonOptions& common, Options& options, const auto& run) {
  options.progress = common.progress;
  options.log = &program_log();
  LoadedModels models(common.model);
  Engine engine(models.all());
  SignalStop stop;
  options.stop = &stop;
  run(engine, options);
}

}  // namespace carbon
