// carbon report: options to run_report.
#include "src/report/run.hpp"

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/output_name.hpp"

namespace carbon {
namespace {

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    if (names.back().empty()) throw Error("main_report", "--tags " + text + ": an empty name");
    begin = end + 1;
  }
  return names;
}

}  // namespace

int cmd_report(int argc, char** argv) {
  CLI::App app("Draw the scores in files that the other commands wrote, as one HTML file");
  ReportOptions options;
  std::string tags;
  bool no_version = false;
  set_usage(app, "carbon report [options] <file>...",
            {{"distributions of the scores of a VCF", "carbon report -o report.html scored.vcf.gz"},
             {"two models beside each other", "carbon report -o report.html small.vcf.gz large.vcf.gz"}});
  app.add_option("files", options.files,
                 "files with scores: VCF, BCF, tables, embeddings, and the JSON of bench and +concord");
  app.add_option("-o,--output", options.output, "the report (default: standard output)")->type_name("FILE");
  app.add_option("--title", options.title, "heading of the report (default: the names of the files)")
      ->type_name("TEXT");
  app.add_option("--svg", options.svg, "also write each figure as an SVG file into this folder")
      ->type_name("DIR");
  app.add_option("--multiqc", options.multiqc,
                 "also write each figure for MultiQC, as *_mqc.json, into this folder")
      ->type_name("DIR");
  app.add_flag("--no-version", no_version, "leave version and command line out of the report");
  app.add_option("--tags", tags, "INFO tags to draw (default: those of carbon that the header names)")
      ->type_name("TAG[,TAG...]");
  app.add_option("--consequence-tag", options.consequence_tag,
                 "INFO tag of consequences (default: the first of BCSQ, CSQ and ANN)")
      ->type_name("TAG");
  app.add_option("--label", options.label,
                 "draw how scores separate alleles: clinvar, TAG, TAG=A,B/C,D or TAG>NUMBER, as in +auroc")
      ->type_name("EXPR");
  app.add_flag("--negate", options.negate,
               "treat low scores as positive, of tags other than those of carbon");
  app.add_option("--bootstrap", options.bootstrap,
                 "samples of the bands of the curves; 0: no bands (default: 1000)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{0}, uint64_t{100000}));
  app.add_option("--seed", options.seed, "seed of these samples (default: 0)")->type_name("N");
  app.add_option("--top", options.top, "rows of the table of the lowest scores (default: 200)")
      ->type_name("N")
      ->check(CLI::Range(size_t{0}, size_t{10000}));
  app.add_option("--probabilities", options.probabilities,
                 "table of score -O tsv or scan, for a small logo in each row of that table")
      ->type_name("FILE");
  app.add_option("-r,--regions", options.regions,
                 "draw this part of tables of bases: chr, chr:beg-end; several times")
      ->type_name("REGION")
      ->allow_extra_args(false);
  app.add_option("--genes", options.genes,
                 "GFF3, plain or compressed, whose exons are drawn beside tables of bases")
      ->type_name("FILE");
  app.add_option("--groups", options.groups, "table whose first column has the names of embedded sequences")
      ->type_name("FILE");
  app.add_option("--colour", options.colour, "the column of --groups that gives points their colours")
      ->type_name("COLUMN");
  add_verbosity_options(app);

  if (const int status = parse_options(app, argc, argv, "report"); status >= 0) return status;
  if (options.files.empty())
    throw Error("main_report", "no file is named; carbon report --help lists what it draws");
  check_output_name("main_report", options.output, {"html"}, "an HTML page",
                    "give it a name that ends in .html");
  if (options.groups.empty() != options.colour.empty())
    throw Error(
        "main_report",
        "--groups FILE and --colour COLUMN belong together: a table, and which of its columns gives colours");
  if (!tags.empty()) options.tags = split_names(tags);
  if (!no_version) options.command = "carbon " + command_line(argc, argv);
  options.log = &program_log();
  run_report(options);
  return 0;
}

}  // namespace carbon
