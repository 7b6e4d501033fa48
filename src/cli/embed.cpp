// carbon embed and carbon predict: options to run_embed and run_predict.
#include <memory>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/embed/predict.hpp"
#include "src/embed/run.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"

namespace carbon {
namespace {

struct EmbedCommand {
  EmbedOptions options;
  CommonOptions common;
};

int run(const CommandLine& line, EmbedCommand& command) {
  EmbedOptions& options = command.options;
  if (!default_inputs(line, options.inputs)) return 1;
  check_embed_options(options);
  run_with_engine(command.common, options, run_embed);
  return 0;
}

struct PredictCommand {
  PredictOptions options;
  CommonOptions common;
};

int run(const CommandLine& line, PredictCommand& command) {
  PredictOptions& options = command.options;
  check_output_name("main_predict", options.output, {"tsv"}, "a table", "give it a name that ends in .tsv");
  check_continuable("main_predict", options.output, options.earlier);
  if (!default_inputs(line, options.inputs)) return 1;
  run_with_engine(command.common, options, run_predict);
  return 0;
}

}  // namespace

Run declare_embed(CommandLine& line) {
  const auto command = std::make_shared<EmbedCommand>();
  EmbedOptions& options = command->options;
  command->common.model.use = ModelUse::states;
  line.describe(
      "Hidden states of FASTA sequences, for use as embeddings",
      "carbon embed [options] <seqs.fa[.gz]>... | -",
      {{"a matrix with one row per sequence for numpy", "carbon embed -o embeddings.npy contigs.fa"},
       {"regions of a BED file, mean over all 6-mers, as a table",
        "carbon embed -R promoters.bed --pool mean -o promoters.tsv GRCh38.fa"}});
  line.arguments("inputs", options.inputs.files);
  OptionGroup group = line.options();
  group
      .option({'O', "output-type", "TYPE", "format: tsv, npy or safetensors"}, options.type,
              kEmbedOutputWords)
      .shows_default("by the suffix of -o, else tsv");
  group.option(
      {'o', "output", kOutput,
       "output file (default: standard output, tsv only); npy and safetensors also write STEM.names.tsv"},
      options.output);
  add_record_option(line, options.record);
  group.option({"dtype-out", "TYPE", "type of the values written: f32 (default) or f16"}, options.dtype,
               kEmbedTypeWords);
  add_settings(line, "Options", embed_settings(options));
  add_region_options(line, options.inputs, "embed");
  add_resume_options(line, options.earlier);
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

Run declare_predict(CommandLine& line) {
  const auto command = std::make_shared<PredictCommand>();
  PredictOptions& options = command->options;
  command->common.model.use = ModelUse::labels;
  line.describe(
      "Values of the labels of a fine-tuned model for FASTA sequences",
      "carbon predict -m MODEL [options] <seqs.fa[.gz]>... | -",
      {{"one line per sequence, one column per label",
        "carbon predict -m malinois --pad-tail --strand both -o activity.tsv oligos.fa"},
       {"regions of a BED file, with an adapter that has a head",
        "carbon predict -m HuggingFaceBio/Carbon-500M --lora promoters -R promoters.bed GRCh38.fa"}});
  line.arguments("inputs", options.inputs.files);
  add_text_output_option(line, options.output);
  add_record_option(line, options.record);
  add_settings(line, "Options", {predict_settings(options).back()});  // the strand
  add_region_options(line, options.inputs, "read");
  add_resume_options(line, options.earlier);
  add_settings(line, "Classification head", label_settings(options.pooling, options.labels));
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
