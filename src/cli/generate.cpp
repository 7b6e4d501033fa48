// carbon generate: options to run_generate.
#include <memory>
#include <optional>

#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"
#include "src/generate/run.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "main_generate";

// Beyond any context, and far from where sums of lengths overflow.
constexpr size_t kMaxLength = size_t{1} << 40;

struct GenerateCommand {
  GenerateOptions options;
  CommonOptions common;
  DraftChoice draft;
};

int run(const CommandLine& line, GenerateCommand& command) {
  GenerateOptions& options = command.options;
  options.draft_tokens = draft_tokens(command.draft);
  check_continuable("main_generate", options.output, options.earlier);
  if (options.input.empty() && !options.unconditional) {
    options.input = default_input(line);
    if (options.input.empty()) return 1;
  }
  check_generate_options(options);
  check_output_name(kFunction, options.output, {"fasta"}, "FASTA", "give it a name that ends in .fa");
  options.progress = command.common.progress;
  options.log = &program_log();
  LoadedModels models(command.common.model);
  std::optional<LoadedModels> drafts = load_draft(command.draft, command.common.model);
  SignalStop stop;
  options.stop = &stop;
  run_generate(models, drafts ? &*drafts : nullptr, options);
  return 0;
}

}  // namespace

Run declare_generate(CommandLine& line) {
  const auto command = std::make_shared<GenerateCommand>();
  GenerateOptions& options = command->options;
  options.input.clear();
  line.describe("Continue FASTA prompts by an exact number of new bases",
                "carbon generate -l BP [options] [prompts.fa[.gz] | -]",
                {{"ten continuations of 600 bp of each prompt",
                  "carbon generate -l 600 -n 10 --seed 1 -o new.fa prompts.fa"},
                 {"sequence without a prompt", "carbon generate -l 1200 --unconditional"}});
  line.argument("input", options.input);
  OptionGroup group = line.options();
  add_settings(line, "Options", length_settings(options));
  group.flag("unconditional", "start without prompts", options.unconditional).excludes("input");
  add_text_output_option(line, options.output);
  add_record_option(line, options.record);
  group.flag("include-prompt", "write the prompt before the new bases", options.include_prompt)
      .excludes("unconditional");
  group.option({'L', "line-length", "INT", "bases per line; 0: one line per sequence"}, options.line_length)
      .range(0, kMaxLength)
      .shows_default();
  add_settings(line, "Sampling", sampler_settings(options.sampler));
  add_resume_options(line, options.earlier);
  const std::string steering = "Constraints and metadata";
  add_settings(line, steering, constraint_settings(options));
  line.group(steering)
      .option({"constraint-file", kInput,
               "constraints as FASTA: one record for all prompts, or one per prompt, with its name"},
              options.constraint_file)
      .excludes("constraint");
  add_metadata_options(line, steering, command->common.model.metadata);
  add_settings(line, "Bounds", bound_settings(options.bounds));
  add_draft_options(line, command->draft, "the output");
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
