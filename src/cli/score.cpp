// carbon score: options to run_score.

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/metadata_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/files/sequence_output.hpp"
#include "src/score/run.hpp"

namespace carbon {

int cmd_score(int argc, char** argv) {
  CLI::App app("Per-base log-likelihoods of FASTA sequences");
  ScoreOptions options;
  CommonOptions common;
  set_usage(app, "carbon score [options] <seqs.fa[.gz]>... | -",
            {{"one line per sequence", "carbon score contigs.fa > scores.tsv"},
             {"one line per base of a region, mean of both strands",
              "carbon score -r chr20:1,000,000-1,006,000 --strand both -O tsv -o bases.tsv.gz GRCh38.fa"}});
  app.add_option("inputs", options.inputs.files, "FASTA files, plain or compressed; - is standard input");
  app.add_option("-O,--output-type", options.type,
                 "summary (one line per sequence; default), bedgraph or tsv (one line per base)")
      ->type_name("TYPE")
      ->transform(choice_of(kScoreOutputWords));
  app.add_option("-o,--output", options.output, "output file (default: standard output); BGZF if named .gz")
      ->type_name("FILE");
  app.add_option("--level", options.level,
                 "bp (one value per base; default) or token (one value per 6-mer, over the full vocabulary)")
      ->type_name("LEVEL")
      ->transform(choice_of(kScoreLevelWords));
  add_strand_option(app, options.strand, "+ (default), - (reverse complement) or both (mean of the two)");
  add_region_options(app, options.inputs, "score");
  app.add_option("--window", options.window,
                 "window in bp, a multiple of 6 (default: 49140, or what fits the model's context)")
      ->type_name("BP");
  app.add_option("--stride", options.stride,
                 "distance between window starts in bp, a multiple of 6 (default: half a window)")
      ->type_name("BP");
  app.add_flag("--estimate", options.estimate, "print the expected work and run time, then exit");
  add_resume_options(app, options.earlier);
  add_metadata_options(app, common.model.metadata, "Metadata");
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "score"); status >= 0) return status;
  check_metadata_names(common.model.metadata.names);
  check_continuable("main_score", options.output, options.earlier);
  if (!default_inputs(app, options.inputs)) return 1;
  const ScoreOutput type = score_output_type(options);
  if (options.level == ScoreLevel::token &&
      (type == ScoreOutput::tsv || options.strand == StrandChoice::both))
    throw Error("main_score",
                "--level token has one value a 6-mer: use -O summary or bedgraph, and --strand + or -");
  check_keeps_inputs("main_score", options.output, options.inputs.files);
  options.progress = common.progress;
  options.log = &program_log();
  LoadedModels models(common.model);
  Engine engine(models.all());
  SignalStop stop;
  options.stop = &stop;
  run_score(engine, options);
  return 0;
}

}  // namespace carbon
