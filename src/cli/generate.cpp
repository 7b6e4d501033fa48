// carbon generate: options to run_generate.
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "src/base/error.hpp"
#include "src/cli/bound_options.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/draft_options.hpp"
#include "src/cli/metadata_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/files/sequence_output.hpp"
#include "src/generate/bounds.hpp"
#include "src/generate/run.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "main_generate";

// Beyond any context, and far from where sums of lengths overflow.
constexpr size_t kMaxLength = size_t{1} << 40;

// CLI11 would take a negative or a too large number for another seed without a word.
uint64_t parse_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (problem != std::errc() || end != text.data() + text.size())
    throw Error(kFunction, "--seed " + text + ": expected a number from 0 to 18446744073709551615");
  return seed;
}

void add_sampling_options(CLI::App& app, SamplerOptions& sampler) {
  const std::string group = "Sampling";
  app.add_option(
         "--sampler", sampler.kind,
         "kmer (whole 6-mers; default), marginal (six independent bases) or chain (one base after the other)")
      ->type_name("NAME")
      ->transform(choice_of(kSamplerWords))
      ->group(group);
  CLI::Option* greedy = app.add_flag("--greedy", sampler.greedy,
                                     "take the most likely 6-mer or base instead of drawing a sample")
                            ->group(group);
  app.add_option("-T,--temperature", sampler.temperature, "sampling temperature, above 0 (default: 1)")
      ->type_name("FLOAT")
      ->excludes(greedy)
      ->group(group);
  app.add_option("--top-k", sampler.top_k,
                 "sample only from the INT most likely 6-mers (with marginal and chain: bases)")
      ->type_name("INT")
      ->check(CLI::Range(size_t{1}, ops::kKmers))
      ->excludes(greedy)
      ->group(group);
  app.add_option(
         "--top-p", sampler.top_p,
         "sample only from the most likely choices whose probabilities add up to P (nucleus sampling)")
      ->type_name("FLOAT")
      ->excludes(greedy)
      ->group(group);
  app.add_option_function<std::string>(
         "--seed", [&sampler](const std::string& text) { sampler.seed = parse_seed(text); },
         "seed of the random number generator (default: 0)")
      ->type_name("INT")
      ->group(group);
}

void add_constraint_options(CLI::App& app, GenerateOptions& options, const std::string& group) {
  CLI::Option* constraint = app.add_option("--constraint", options.constraint,
                                           "allowed bases as IUPAC letters, from the first new base on")
                                ->type_name("IUPAC")
                                ->group(group);
  app.add_option("--constraint-file", options.constraint_file,
                 "constraints as FASTA: one record for all prompts, or one per prompt, with its name")
      ->type_name("FILE")
      ->excludes(constraint)
      ->group(group);
}

void check(const GenerateOptions& options) {
  if (options.length == 0) throw Error(kFunction, "--length 0: expected at least one new base");
  with_dashes(kFunction, [&] { check_sampler(options.sampler); });
  if (options.sampler.kind == SamplerKind::marginal && has_bounds(options.bounds))
    throw Error(kFunction,
                "--sampler marginal draws six bases independently and cannot keep bounds; use kmer or chain");
  if (options.input == "-" && options.constraint_file == "-")
    throw Error(kFunction, "prompts and --constraint-file both from standard input; name a file for one");
}

}  // namespace

int cmd_generate(int argc, char** argv) {
  CLI::App app("Continue FASTA prompts by an exact number of new bases");
  GenerateOptions options;
  CommonOptions common;
  MetadataChoice metadata;
  DraftChoice draft;
  options.input.clear();
  set_usage(app, "carbon generate -l BP [options] [prompts.fa[.gz] | -]",
            {{"ten continuations of 600 bp of each prompt",
              "carbon generate -l 600 -n 10 --seed 1 -o new.fa prompts.fa"},
             {"sequence without a prompt", "carbon generate -l 1200 --unconditional"}});
  CLI::Option* input =
      app.add_option("input", options.input, "FASTA, plain or compressed; - is standard input");
  app.add_option("-l,--length", options.length, "number of new bases in each sample")
      ->type_name("BP")
      ->check(CLI::Range(size_t{0}, kMaxLength).description(""))
      ->required();
  app.add_option("-n,--num", options.samples, "samples per prompt (default: 1)")
      ->type_name("INT")
      ->check(CLI::Range(size_t{1}, size_t{UINT32_MAX}).description(""));
  CLI::Option* unconditional =
      app.add_flag("--unconditional", options.unconditional, "start without prompts")->excludes(input);
  app.add_option("-o,--output", options.output, "output file (default: standard output); BGZF if named .gz")
      ->type_name("FILE");
  app.add_flag("--include-prompt", options.include_prompt, "write the prompt before the new bases")
      ->excludes(unconditional);
  app.add_option("-L,--line-length", options.line_length,
                 "bases per line; 0: one line per sequence (default: 60)")
      ->type_name("INT")
      ->check(CLI::Range(size_t{0}, kMaxLength).description(""));
  add_sampling_options(app, options.sampler);
  add_resume_options(app, options.earlier);
  const std::string steering = "Constraints and metadata";
  add_constraint_options(app, options, steering);
  add_metadata_options(app, metadata, steering);
  add_bound_options(app, options.bounds);
  add_draft_options(app, draft, "the output");
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "generate"); status >= 0) return status;
  options.draft_tokens = draft_tokens(draft);
  check_metadata_names(metadata.names);
  check_continuable("main_generate", options.output, options.earlier);
  if (options.input.empty() && !options.unconditional) {
    options.input = default_input(app);
    if (options.input.empty()) return 1;
  }
  check(options);
  check_keeps_inputs(kFunction, options.output, {options.input, options.constraint_file});
  options.progress = common.progress;
  options.log = &program_log();
  LoadedModels models(common.model);
  options.prefix =
      metadata.text.empty() ? metadata_text(models.front().config().layout, metadata.names) : metadata.text;
  std::optional<LoadedModels> drafts = load_draft(draft, common.model);
  SignalStop stop;
  options.stop = &stop;
  run_generate(models, drafts ? &*drafts : nullptr, options);
  return 0;
}

}  // namespace carbon
