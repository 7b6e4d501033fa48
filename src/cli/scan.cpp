// carbon scan: options to run_scan.
#include <memory>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/files/sequence_output.hpp"
#include "src/scan/output.hpp"
#include "src/scan/run.hpp"

namespace carbon {
namespace {

struct ScanCommand {
  ScanOptions options;
  CommonOptions common;
  std::string shard;
  bool no_version = false;
};

void add_scan_selection(CommandLine& line, ScanSelection& selection) {
  OptionGroup group = line.group("Bases to scan");
  add_region_lists(group, "only these regions: chr, chr:pos, chr:beg-end, chr:beg-", selection);
  add_target_lists(group, "of these only the bases in LIST; with ^, the bases outside it",
                   "like -t, with regions from a file", selection);
}

void add_output_type(OptionGroup& group, std::string& type) {
  static const std::string shown = shown_scan_outputs();
  const std::string help = joined(scan_output_types(), "; ", &ScanOutputType::help);
  std::vector<std::string> words;
  for (const ScanOutputType& known : scan_output_types())
    words.insert(words.end(), known.words.begin(), known.words.end());
  group.option({'O', "output-type", shown.c_str(), help}, type).offers(words);
}

// Throws for what the output's type excludes; scan_output_type() does so for an index of a table or VCF.
void check_output(const ScanOptions& options) {
  const ScanOutputType& type = scan_output_type(options);
  const std::string& set = type.set;
  if (!type.of_variants && !options.write_index.empty())
    throw Error("main_scan", "-O " + options.output_type + " cannot have an index; leave out --write-index");
  if (!type.has_hub && !options.hub.empty())
    throw Error("main_scan", "--hub shows bigWig files; add -O bigwig");
  if (options.hub.empty() && !options.hub_genome.empty())
    throw Error("main_scan", "--hub-genome is for a hub; add --hub DIR");
  if (options.earlier == EarlierRun::resume && !set.empty())
    throw Error("main_scan", "a run that writes " + set + " cannot be continued; leave out --resume");
  check_continuable("main_scan", options.output, options.earlier);
  if (set.empty()) return;
  if (options.shard || options.estimate.limit > 0)
    throw Error("main_scan", set + " cannot be put together from shares; leave out " +
                                 (options.shard ? "--shard" : "the time of --estimate") +
                                 ", or use another -O");
  if (is_stream(options.output) || options.output.empty() || options.output.back() == '/')
    throw Error("main_scan", "-O " + options.output_type +
                                 " writes several regular files; say how their names begin with -o PREFIX");
}

int run(const CommandLine& line, ScanCommand& command) {
  ScanOptions& options = command.options;
  if (line.given("shard")) options.shard = parse_shard(command.shard);
  choose_scan_output(options);
  check_output(options);
  options.version_lines = !command.no_version;
  options.command_line = line.text();
  run_with_engine(command.common, options, run_scan);
  return 0;
}

}  // namespace

Run declare_scan(CommandLine& line) {
  const auto command = std::make_shared<ScanCommand>();
  ScanOptions& options = command->options;
  line.describe("Score every base and every SNV of a genome", "carbon scan -f ref.fa [options]",
                {{"every SNV of a gene as a table with an index",
                  "carbon scan -f GRCh38.fa -r chr17:43,044,295-43,125,364 -o brca1.tsv.gz -W"},
                 {"what a whole genome would take", "carbon scan -f GRCh38.fa --dry-run"}});
  OptionGroup group = line.options();
  group
      .option({'f', "fasta-ref", kInput, "reference FASTA, plain or BGZF; a missing index is built"},
              options.fasta)
      .required();
  add_text_output_option(line, options.output);
  add_output_type(group, options.output_type);
  group.option({"histogram", kOutput,
                "also count the values of all SNVs in this file, the background of carbon +rank"},
               options.histogram);
  group.option({"hub", kDirectory, "with -O bigwig, write a UCSC track hub that shows a logo into DIR"},
               options.hub);
  group.option({"hub-genome", "NAME", "the browser's name of the genome, such as hg38"}, options.hub_genome)
      .shows_default("the name of the FASTA");
  add_index_option(line, options.write_index);
  group.flag("no-version", "leave out the version and the command line, so that equal runs write equal bytes",
             command->no_version);
  add_settings(line, "Options", scan_settings(options));
  group.option({"shard", "I/N", "scan only the I-th of N contiguous shares of the bases"}, command->shard);
  add_resume_options(line, options.earlier);
  group.flag("dry-run", "print the expected work, then exit", options.dry_run);
  add_estimate_option(line, options.estimate);
  add_scan_selection(line, options.selection);
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
