// carbon embed: options to run_embed.
#include "src/embed/run.hpp"

#include "src/cli/commands.hpp"
#include "src/cli/metadata_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/files/output.hpp"

namespace carbon {

int cmd_embed(int argc, char** argv) {
  CLI::App app("Hidden states of FASTA sequences, for use as embeddings");
  EmbedOptions options;
  CommonOptions common;
  set_usage(app, "carbon embed [options] <seqs.fa[.gz]>... | -",
            {{"a matrix with one row per sequence for numpy", "carbon embed -o embeddings.npy contigs.fa"},
             {"regions of a BED file, mean over all 6-mers, as a table",
              "carbon embed -R promoters.bed --pool mean -o promoters.tsv GRCh38.fa"}});
  app.add_option("inputs", options.inputs.files, "FASTA files, plain or compressed; - is standard input");
  app.add_option("-O,--output-type", options.type,
                 "tsv, npy or safetensors (default: by the suffix of -o, else tsv)")
      ->type_name("TYPE")
      ->transform(choice_of(kEmbedOutputWords));
  app.add_option(
         "-o,--output", options.output,
         "output file (default: standard output, tsv only); npy and safetensors also write STEM.names.tsv")
      ->type_name("FILE");
  app.add_option("--layer", options.layer,
                 "-1: after the final norm (default); L: the residual stream after the first L layers")
      ->type_name("L");
  app.add_option("--pool", options.pool,
                 "separator (the row of </dna> or a last <s>; default), last (6-mer), mean (over all 6-mers) "
                 "or none (one "
                 "row per 6-mer)")
      ->type_name("POOL")
      ->transform(choice_of(kPoolWords));
  app.add_option("--dtype-out", options.dtype, "type of the values written: f32 (default) or f16")
      ->type_name("TYPE")
      ->transform(choice_of(kEmbedTypeWords));
  app.add_flag("--pad-tail", options.pad_tail,
               "pad a partial 6-mer at the end with A (default: leave it out)");
  add_strand_option(app, options.strand,
                    "+ (default), - (reverse complement) or both (mean of the two rows)");
  add_region_options(app, options.inputs, "embed");
  add_resume_options(app, options.earlier);
  add_metadata_options(app, common.model.metadata, "Metadata");
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "embed"); status >= 0) return status;
  check_metadata_names(common.model.metadata.names);
  if (!default_inputs(app, options.inputs)) return 1;
  check_embed_options(options);
  check_keeps_inputs("main_embed", options.output, options.inputs.files);
  options.progress = common.progress;
  options.log = &program_log();
  LoadedModels models(common.model);
  Engine engine(models.all());
  SignalStop stop;
  options.stop = &stop;
  run_embed(engine, options);
  return 0;
}

}  // namespace carbon
