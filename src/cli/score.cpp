// carbon score: options to run_score.
#include <memory>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/files/sequence_output.hpp"
#include "src/score/run.hpp"

namespace carbon {
namespace {

struct ScoreCommand {
  ScoreOptions options;
  CommonOptions common;
};

int run(const CommandLine& line, ScoreCommand& command) {
  ScoreOptions& options = command.options;
  check_continuable("main_score", options.output, options.earlier);
  if (!default_inputs(line, options.inputs)) return 1;
  const ScoreOutput type = score_output_type(options);
  if (options.level == ScoreLevel::token && type == ScoreOutput::tsv)
    throw Error("main_score", "--level token has one value a 6-mer: use -O summary or bedgraph");
  run_with_engine(command.common, options, run_score);
  return 0;
}

}  // namespace

Run declare_score(CommandLine& line) {
  const auto command = std::make_shared<ScoreCommand>();
  ScoreOptions& options = command->options;
  line.describe(
      "Per-base log-likelihoods of FASTA sequences", "carbon score [options] <seqs.fa[.gz]>... | -",
      {{"one line per sequence", "carbon score contigs.fa > scores.tsv"},
       {"one line per base of a region, mean of both strands",
        "carbon score -r chr20:1,000,000-1,006,000 --strand both -O tsv -o bases.tsv.gz GRCh38.fa"}});
  line.arguments("inputs", options.inputs.files);
  OptionGroup group = line.options();
  group.option({'O', "output-type", "TYPE",
                "format: summary (one line per sequence; default), bedgraph or tsv (one line per base)"},
               options.type, kScoreOutputWords);
  add_text_output_option(line, options.output);
  add_record_option(line, options.record);
  add_settings(line, "Options", score_settings(options));
  add_region_options(line, options.inputs, "score");
  add_estimate_option(line, options.estimate);
  add_resume_options(line, options.earlier);
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
