// carbon scan: options to run_scan.

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/metadata_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/files/sequence_output.hpp"
#include "src/scan/run.hpp"

namespace carbon {
namespace {

void add_scan_selection(CLI::App& app, ScanSelection& selection) {
  const std::string group = "Bases to scan";
  const auto add = [&](const std::string& name, std::string& value, const std::string& help,
                       const std::string& type) {
    return app.add_option(name, value, help)->type_name(type)->group(group);
  };
  CLI::Option* regions = add("-r,--regions", selection.regions,
                             "only these regions: chr, chr:pos, chr:beg-end, chr:beg-", "LIST");
  add("-R,--regions-file", selection.regions_file,
      "like -r, with regions from a file: CHROM POS or CHROM BEG END, or BED if named .bed[.gz]", "FILE")
      ->excludes(regions);
  CLI::Option* targets = add("-t,--targets", selection.targets,
                             "of these only the bases in LIST; with ^, the bases outside it", "[^]LIST");
  add("-T,--targets-file", selection.targets_file, "like -t, with regions from a file", "[^]FILE")
      ->excludes(targets);
}

// Throws for what the output's type excludes; scan_output_type() does so for an index of a table or VCF.
void check_output(const ScanOptions& options) {
  const ScanOutputType type = scan_output_type(options);
  const bool bigwig = type == ScanOutputType::bigwig;
  if ((bigwig || type == ScanOutputType::bedgraph) && !options.write_index.empty())
    throw Error("main_scan", "-O " + options.output_type + " cannot have an index; leave out --write-index");
  if (!bigwig && !options.hub.empty()) throw Error("main_scan", "--hub shows bigWig files; add -O bigwig");
  if (options.hub.empty() && !options.hub_genome.empty())
    throw Error("main_scan", "--hub-genome is for a hub; add --hub DIR");
  if (options.earlier == EarlierRun::resume && bigwig)
    throw Error("main_scan", "a run that writes bigWig files cannot be continued; leave out --resume");
  check_continuable("main_scan", options.output, options.earlier);
  for (const std::string& output : {options.output, options.histogram})
    check_keeps_inputs("main_scan", output, {options.fasta});
  if (!options.histogram.empty() && options.histogram == options.output)
    throw Error("main_scan", "--histogram and -o name the same file; give one of them another name");
  if (!bigwig) return;
  if (options.shard)
    throw Error("main_scan",
                "bigWig files cannot be put together from shares; leave out --shard, or use another -O");
  if (is_stream(options.output) || options.output.empty() || options.output.back() == '/')
    throw Error("main_scan", "-O bigwig writes four regular files; say how their names begin with -o PREFIX");
}

}  // namespace

int cmd_scan(int argc, char** argv) {
  CLI::App app("Score every base and every SNV of a genome");
  set_usage(app, "carbon scan -f ref.fa [options]",
            {{"every SNV of a gene as a table with an index",
              "carbon scan -f GRCh38.fa -r chr17:43,044,295-43,125,364 -o brca1.tsv.gz -W"},
             {"what a whole genome would take", "carbon scan -f GRCh38.fa --dry-run"}});
  ScanOptions options;
  CommonOptions common;
  std::string shard;
  bool no_version = false;
  app.add_option("-f,--fasta-ref", options.fasta, "reference FASTA, plain or BGZF; a missing index is built")
      ->type_name("FILE")
      ->required();
  app.add_option("-o,--output", options.output, "output file (default: standard output); BGZF if named .gz")
      ->type_name("FILE");
  app.add_option("-O,--output-type", options.output_type,
                 "t: table, one line per SNV (default); u/b: un/compressed BCF, v/z: un/compressed VCF, one "
                 "record per base, 0-9: level; bedgraph: log-likelihood of each reference base; bigwig: "
                 "probabilities of the four letters, in PREFIX.A.bw, .C.bw, .G.bw and .T.bw with -o PREFIX")
      ->type_name("t|u|b|v|z[0-9]|bedgraph|bigwig");
  app.add_option("--histogram", options.histogram,
                 "also count the values of all SNVs in this file, the background of carbon +rank")
      ->type_name("FILE");
  app.add_option("--hub", options.hub, "with -O bigwig, write a UCSC track hub that shows a logo into DIR")
      ->type_name("DIR");
  app.add_option("--hub-genome", options.hub_genome,
                 "the browser's name of the genome, such as hg38 (default: the name of the FASTA)")
      ->type_name("NAME");
  app.add_option("-W,--write-index", options.write_index,
                 "write an index of the output file: csi (default) or tbi")
      ->type_name("[=csi|tbi]");
  app.add_flag("--no-version", no_version, "do not write version and command line into the header");
  app.add_option("--level", options.level,
                 "marginal (bases before it in the 6-mer summed over; default), chain (given these bases) or "
                 "first (each base as the first of its 6-mer)")
      ->type_name("LEVEL")
      ->transform(choice_of(kScanLevelWords));
  app.add_option("--frames", options.frames,
                 "take the mean over 1, 2, 3 or 6 frames of the 6-mers (default: 1; 6 with --level first)")
      ->type_name("N")
      ->check(one_of({"1", "2", "3", "6"}));
  app.add_option(
         "--context", options.context,
         "least left context in bp, a multiple of 6 (default: 24000, or what the model's context allows)")
      ->type_name("BP")
      ->check(CLI::PositiveNumber.description(""));
  add_strand_option(app, options.strand, "+, - or both (mean of the two; default)");
  app.add_option("--shard", shard, "scan only the I-th of N contiguous shares of the bases")
      ->type_name("I/N");
  add_resume_options(app, options.earlier);
  app.add_flag("--dry-run", options.dry_run, "print the expected work, then exit");
  app.add_flag("--estimate", options.estimate, "print the expected work and run time, then exit");
  add_scan_selection(app, options.selection);
  add_metadata_options(app, common.model.metadata, "Metadata");
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "scan"); status >= 0) return status;
  check_metadata_names(common.model.metadata.names);
  if (app.count("--shard") > 0) options.shard = parse_shard(shard);
  choose_scan_output(options);
  check_output(options);
  options.version_lines = !no_version;
  options.command_line = command_line(argc, argv);
  options.progress = common.progress;
  options.log = &program_log();
  LoadedModels models(common.model);
  Engine engine(models.all());
  SignalStop stop;
  options.stop = &stop;
  run_scan(engine, options);
  return 0;
}

}  // namespace carbon
