// carbon annotate: options to run_annotate.
#include <algorithm>
#include <memory>

#include "src/annotate/run.hpp"
#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/files/run_files.hpp"
#include "src/files/sequence_output.hpp"

namespace carbon {
namespace {

constexpr char kFunction[] = "main_annotate";

struct AnnotateCommand {
  AnnotateOptions options;
  CommonOptions common;
  std::string shard;
};

[[noreturn]] void fail(const std::string& what) {
  throw Error(kFunction, what);
}

// Throws Error for what a type of output excludes.
void check_output(const CommandLine& line, const AnnotateOptions& options) {
  const AnnotateOutput type = annotate_output_type(options);
  const std::string written = std::string("-O ") + word_of(kAnnotateOutputWords, type);
  if (type == AnnotateOutput::gff3) {
    check_output_name(kFunction, options.output, {"gff3"}, "GFF3",
                      "choose with -O, or give it a name that ends in .gff3 or .gff3.gz");
    for (const auto& [name, path] : {std::pair("--proteins", options.proteins), {"--cds", options.coding}})
      if (options.mode == GeneMode::runs && !path.empty())
        fail(std::string(name) +
             " writes what genes code for, and --genes runs calls none; leave out one of them");
    if (options.inputs.has_regions())
      fail("genes are those of whole sequences; leave out -r and -R, or add -O tsv, bedgraph or bigwig");
  } else {
    AnnotateOptions unused;
    SettingList settings = {mode_setting(unused)};
    for (SettingList more : {gene_settings(unused), settings_of_runs(unused)})
      settings.insert(settings.end(), more.begin(), more.end());
    std::vector<std::string> of_genes = {"proteins", "cds", "tracks"};
    for (const Setting& setting : settings) of_genes.push_back(setting.name);
    for (const std::string& name : of_genes)
      if (line.given(name))
        fail("--" + name + " has no meaning with " + written + ", which calls no genes; leave it out");
    if (!options.from_tracks.empty()) fail(written + " needs a model; leave out --from-tracks");
  }
  if ((type == AnnotateOutput::bedgraph) != options.strand.has_value())
    fail(options.strand ? "--strand is for -O bedgraph, which has room for one strand; leave it out"
                        : "-O bedgraph has room for one strand; choose with --strand + or --strand -");
  if (type == AnnotateOutput::tsv || type == AnnotateOutput::bedgraph)
    check_output_name(kFunction, options.output, {word_of(kAnnotateOutputWords, type)}, written,
                      "choose with -O, or give another name");
  for (const auto& [name, prefix] :
       {std::pair("-o PREFIX", type == AnnotateOutput::bigwig ? options.output : "x"),
        {"--tracks", options.tracks.empty() ? "x" : options.tracks}})
    if (is_stream(prefix) || prefix.empty() || prefix.back() == '/')
      fail(std::string("bigWig tracks are regular files; say how their names begin with ") + name);
}

void check_inputs(const AnnotateOptions& options) {
  const std::vector<std::string>& files = options.inputs.files;
  const bool piped = std::find(files.begin(), files.end(), "-") != files.end();
  if (options.shard && piped) fail("a share of standard input cannot be found; name a file for --shard");
  if (!options.inputs.has_regions()) return;
  if (files.size() != 1 || piped) fail("-r and -R need one FASTA file, which gets an index");
  if (options.earlier != EarlierRun::refuse)
    fail("regions are not continued; leave out --resume and --restart");
}

int run(const CommandLine& line, AnnotateCommand& command) {
  AnnotateOptions& options = command.options;
  if (line.given("shard")) options.shard = parse_shard(command.shard);
  check_annotate_settings(options, line.given_names());
  check_output(line, options);
  check_continuable(kFunction, options.output, options.earlier);
  if (!default_inputs(line, options.inputs)) return 1;
  check_inputs(options);
  if (options.from_tracks.empty()) {
    run_with_engine(command.common, options,
                    [](Engine& engine, const AnnotateOptions& chosen) { run_annotate(engine, chosen); });
    return 0;
  }
  options.progress = command.common.progress;
  options.log = &program_log();
  run_annotate_tracks(options);
  return 0;
}

}  // namespace

Run declare_annotate(CommandLine& line) {
  const auto command = std::make_shared<AnnotateCommand>();
  AnnotateOptions& options = command->options;
  command->common.model.use = ModelUse::coding;
  line.describe(
      "Genes of eukaryotes, as GFF3, or the probability of every base to be coding",
      "carbon annotate [-m DIR|NAME | --from-tracks PREFIX] [options] <seqs.fa[.gz]>... | -",
      {{"genes and proteins of a genome",
        "carbon annotate -m HuggingFaceBio/Carbon-A-1.2B -o genes.gff3 --proteins proteins.fa genome.fa"},
       {"the probabilities of every base, for a genome browser",
        "carbon annotate -m HuggingFaceBio/Carbon-A-1.2B -O bigwig -o genome genome.fa"}});
  line.arguments("inputs", options.inputs.files, true, InputUse::again);
  OptionGroup group = line.options();
  group.option({'O', "output-type", "TYPE",
                "format: gff3 (genes; default), tsv (a line for each base), bedgraph or bigwig (tracks "
                "PREFIX.plus.bw and "
                "PREFIX.minus.bw)"},
               options.type, kAnnotateOutputWords);
  add_text_output_option(line, options.output);
  group.option({"strand", "+|-", "with -O bedgraph, the strand that is written"}, options.strand,
               kAnnotateStrandWords);
  group.option({"tracks", "PREFIX", "with -O gff3, also write PREFIX.plus.bw and PREFIX.minus.bw"},
               options.tracks);
  group.option({"proteins", kOutput, "also write the proteins, as FASTA"}, options.proteins);
  group.option({"cds", kOutput, "also write the coding sequences, as FASTA"}, options.coding);
  group
      .option({"from-tracks", "PREFIX",
               "call genes from the probabilities in PREFIX.plus.bw and PREFIX.minus.bw, without a model"},
              options.from_tracks)
      .excludes("model")
      .excludes("window")
      .excludes("overlap")
      .excludes("tracks")
      .excludes("shard")
      .excludes("resume")
      .excludes("restart");
  add_record_option(line, options.record);
  add_settings(line, "Windows", window_settings(options));
  group.option({"shard", "I/N", "annotate only the I-th of N shares of the sequences"}, command->shard);
  add_resume_options(line, options.earlier);
  add_region_options(line, options.inputs, "annotate");
  add_settings(line, "Calls", {mode_setting(options)});
  add_settings(line, "Genes (--genes model)", gene_settings(options));
  add_settings(line, "Runs (--genes runs)", settings_of_runs(options));
  add_common_options(line, command->common);
  line.after_parsing([&options] {
    if (!options.from_tracks.empty())
      for (const std::string& path : {plus_track(options.from_tracks), minus_track(options.from_tracks)})
        declare_input(path, InputUse::once, kFunction);
    if (!options.tracks.empty())
      for (const std::string& path : {plus_track(options.tracks), minus_track(options.tracks)})
        declare_output(path, kFunction);
  });
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
