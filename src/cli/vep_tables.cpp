#include "src/cli/vep_tables.hpp"

#include "src/base/error.hpp"
#include "src/base/settings.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/scan/run.hpp"
#include "src/vep/run.hpp"
#include "src/vep/table_run.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "main_vep";
constexpr const char* kOfRecipes[] = {"window",    "context",   "horizon", "strand",           "phases",
                                      "cache",     "resume",    "restart", "max-ref-mismatch", "estimate",
                                      "check-ref", "histogram", "level",   "embeddings"};

// As the tables say that the scan was run that made them.
ScanOptions scan_of(const ScoreTables& tables, const VepOptions& options) {
  ScanOptions scan;
  scan.fasta = options.fasta;
  scan.level = word_setting("level", tables.field("Level"), kScanLevelWords);
  scan.strand = word_setting("strand", tables.field("Strand"), kStrandWords);
  scan.frames = number_setting<int>("frames", tables.field("Frames"), "a number");
  scan.context = number_setting<int64_t>("context", tables.field("Context"), "a number");
  scan.write_index = "csi";
  scan.progress = options.progress;
  scan.log = options.log;
  scan.version_lines = false;
  return scan;
}

}  // namespace

bool only_tables(const CommandLine& line, const VepOptions& options, bool named) {
  if (named && options.tables.empty())
    throw Error(kFunction, "--recipe table takes scores from tables of carbon scan; name them with --table");
  return named || (!options.tables.empty() && !line.given("recipe"));
}

void check_table_options(const CommandLine& line, const VepOptions& options, bool fill) {
  for (const char* const name : kOfRecipes)
    if (line.given(name))
      throw Error(kFunction, "--" + std::string(name) +
                                 " has no effect where all scores come from tables; leave it " +
                                 "out, or choose a recipe with --recipe");
  if (fill && options.fasta.empty())
    throw Error(kFunction, "--fill computes scores, which needs -f, the FASTA that was scanned");
  if (fill && !line.given("model"))
    throw Error(kFunction, "--fill computes scores, which needs -m, the model of the tables");
  if (!fill && !options.fasta.empty())
    throw Error(kFunction, "-f has no effect where all scores come from tables; leave it out, or add --fill");
}

ScoreTables open_tables(const VepOptions& options) {
  return {options.tables, ContigNames(options.unify_chr_names, options.chr_map)};
}

void fill_tables(Engine& engine, VepOptions& options, PrivateDirectory& folder) {
  ScoreTables tables = open_tables(options);
  check_same_model(engine.model(), tables);
  check_readable_twice(options.input, "--fill reads the input twice, to find the SNVs that the tables lack");
  const std::string missing = folder.file("missing.bed"), filled = folder.file("filled.bcf");
  folder.file("filled.bcf.csi");
  const uint64_t count = write_missing(options, tables, missing);
  if (count == 0) return;
  options.log->message("vep", std::to_string(count) + " SNVs that the tables lack are computed");
  ScanOptions scan = scan_of(tables, options);
  scan.output = filled;
  scan.selection.regions_file = missing;
  run_scan(engine, scan);
  options.tables.push_back(filled);
}

}  // namespace carbon
