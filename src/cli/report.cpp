// carbon report: options to run_report.
#include "src/base/words.hpp"
#include "src/report/run.hpp"

#include <memory>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/files/file_name.hpp"

namespace carbon {
namespace {

struct ReportCommand {
  ReportOptions options;
  std::string tags;
  bool no_version = false;
};

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view name : split(text, ',')) {
    if (name.empty()) throw Error("main_report", "--tags " + text + ": an empty name");
    names.emplace_back(name);
  }
  return names;
}

int run(const CommandLine& line, ReportCommand& command) {
  ReportOptions& options = command.options;
  if (options.files.empty())
    throw Error("main_report", "no file is named; give one that carbon has written, such as the VCF of vep");
  check_output_name("main_report", options.output, {"html"}, "an HTML page",
                    "give it a name that ends in .html");
  if (options.groups.empty() != options.colour.empty())
    throw Error(
        "main_report",
        "--groups FILE and --colour COLUMN belong together: a table, and which of its columns gives colours");
  if (!command.tags.empty()) options.tags = split_names(command.tags);
  if (!command.no_version) options.command = "carbon " + line.text();
  options.log = &program_log();
  run_report(options);
  return 0;
}

}  // namespace

Run declare_report(CommandLine& line) {
  const auto command = std::make_shared<ReportCommand>();
  ReportOptions& options = command->options;
  line.describe("Draw the scores in files that the other commands wrote, as one HTML file",
                "carbon report [options] <file>...",
                {{"distributions of the scores of a VCF", "carbon report -o report.html scored.vcf.gz"},
                 {"two models beside each other", "carbon report -o report.html small.vcf.gz large.vcf.gz"}});
  line.arguments("files", options.files, true, InputUse::again);
  OptionGroup group = line.options();
  group.option({'o', "output", kOutput, "the report (default: standard output)"}, options.output);
  group.option({"title", "TEXT", "heading of the report"}, options.title)
      .shows_default("the names of the files");
  group.option({"svg", kDirectory, "also write each figure as an SVG file into this folder"}, options.svg);
  group.option({"multiqc", kDirectory, "also write each figure for MultiQC, as *_mqc.json, into this folder"},
               options.multiqc);
  group.option({"session", kOutput,
                "also write a session of IGV, which names the files of the report, and bigWig, bedGraph, BED "
                "and FASTA files that are given beside them"},
               options.session);
  group.flag("no-version", "leave out the version and the command line, so that equal runs write equal bytes",
             command->no_version);
  group.option({"tags", "TAG[,TAG...]", "INFO tags to draw"}, command->tags)
      .shows_default("those of carbon that the header names");
  group.option({"consequence-tag", "TAG", "INFO tag of consequences"}, options.consequence_tag)
      .shows_default("the first of BCSQ, CSQ and ANN");
  group
      .option({"assembly", "NAME",
               "link variants to databases: GRCh38, GRCh37, T2T, GRCm39 or GRCm38, or none for no links"},
              options.assembly)
      .shows_default("what the header of the file says");
  group.option({"label", "EXPR",
                "draw how scores separate alleles: clinvar, TAG, TAG=A,B/C,D or TAG>NUMBER, as in +auroc"},
               options.label);
  group.flag("negate", "treat low scores as positive, of tags other than those of carbon", options.negate);
  group.option({"bootstrap", "N", "samples of the bands of the curves; 0: no bands"}, options.bootstrap)
      .range(0, 100000)
      .shows_default();
  group.option({"seed", "N", "seed of these samples"}, options.seed).shows_default();
  group.option({"top", "N", "rows of the tables of the lowest scores"}, options.top)
      .range(0, 10000)
      .shows_default();
  group.option({"probabilities", kInput,
                "table of score -O tsv or scan, for a small logo and the locus of each row of that table"},
               options.probabilities);
  group.option(
      {'r', "regions", "REGION",
       "draw this part of a table of bases or of coding probabilities: chr, chr:beg-end; several times"},
      options.regions);
  group.option(
      {"genes", kInput, "GFF3 or GTF, plain or compressed, whose exons are drawn beside bases and variants"},
      options.genes);
  group.option({"groups", kInput, "table whose first column has the names of embedded sequences"},
               options.groups);
  group.option({"colour", "COLUMN", "the column of --groups that gives points their colours"},
               options.colour);
  add_verbosity_options(line);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
