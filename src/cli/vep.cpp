// carbon vep: options to run_vep.
#include <algorithm>
#include <memory>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/base/settings.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/temporary_files.hpp"
#include "src/scan/run.hpp"
#include "src/vep/options.hpp"
#include "src/vep/recipe.hpp"
#include "src/vep/run.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {
namespace {

struct VepCommand {
  VepOptions options;
  CommonOptions common;
  std::string shard;
  std::string pool;           // of recipe head, or of --embeddings
  bool recipe_table = false;  // the word table in the place of a recipe
  bool no_version = false, fill = false;
};

// Throws Error, with a prefix near to this one, if no INFO tag may begin with it.
void check_tag_prefix(const std::string& prefix) {
  std::string allowed = prefix;
  for (char& c : allowed)
    if (!is_letter_or_digit(c) && c != '_' && c != '.') c = '_';
  if (!allowed.empty() && (is_digit(allowed[0]) || allowed[0] == '.')) allowed.insert(0, "_");
  if (!prefix.empty() && allowed == prefix) return;
  throw Error("main_vep", "--tag-prefix '" + prefix +
                              "': expected letters, digits, _ and ., not starting with a digit or ." +
                              (prefix.empty() ? "" : "; write " + allowed));
}

// The settings of the recipes, of which the first may also be the word table.
SettingList recipe_options(VepCommand& command) {
  SettingList settings = recipe_settings(command.options.scores);
  auto& recipes = std::get<Setting::List>(settings.front().target);
  recipes.words.emplace_back("table");
  recipes.set = [&command, set = recipes.set](const Setting::Parts& parts) {
    command.recipe_table = std::find(parts.begin(), parts.end(), "table") != parts.end();
    if (command.recipe_table && parts.size() > 1)
      throw SettingError("vep", "recipe", "recipe table cannot be combined with others");
    if (!command.recipe_table) set(parts);
  };
  return settings;
}

// The settings of recipe head; its pool shares a name with that of --embeddings.
SettingList head_options(VepCommand& command) {
  SettingList settings = head_settings(command.options.scores);
  const auto pool =
      std::find_if(settings.begin(), settings.end(), [](const Setting& one) { return one.name == "pool"; });
  pool->help +=
      "; of --embeddings: the tokens of a mean, window (all; default), variant (the first that differs) or "
      "BP "
      "bases from there on";
  pool->target = &command.pool;
  return settings;
}

// Gives --pool to what it is for, and returns the names of the options that were given, without those that
// the recipes need not see.
std::vector<std::string> choose_pool(const CommandLine& line, VepCommand& command) {
  std::vector<std::string> given = line.given_names();
  if (!line.given("pool")) return given;
  RecipeSettings& scores = command.options.scores;
  if (scores.wants("head")) {
    scores.pooling.pool = word_setting("pool", command.pool, kRowPoolWords);
    return given;
  }
  if (command.options.embeddings.empty())
    throw Error("main_vep", "--pool belongs to recipe head and to --embeddings, and neither is chosen");
  command.options.pool = command.pool;
  std::erase(given, "pool");
  return given;
}

// ---- --table and --fill: scores of SNVs from outputs of carbon scan

constexpr const char* kFunction = "main_vep";
constexpr const char* kOfRecipes[] = {"window",    "context",   "horizon", "strand",           "phases",
                                      "cache",     "resume",    "restart", "max-ref-mismatch", "estimate",
                                      "check-ref", "histogram", "level",   "embeddings",       "measure"};
constexpr const char* kOfValues[] = {"dtype", "rope-scaling", "prefix", "species", "gene-type"};

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

// Whether nothing but the tables gives scores: no recipe or measure is asked for beside them, or they are, by
// name. Throws Error for a name without tables.
bool only_tables(const CommandLine& line, const VepOptions& options, bool named) {
  if (named && options.tables.empty())
    throw Error(kFunction, "--recipe table takes scores from tables of carbon scan; name them with --table");
  return named || (!options.tables.empty() && !line.given("recipe") && !line.given("measure"));
}

// Throws Error for options that have no effect, or are missing, in a run of tables alone.
void check_table_options(const CommandLine& line, const VepOptions& options, bool fill) {
  for (const char* const name : kOfRecipes)
    if (line.given(name))
      throw Error(kFunction, "--" + std::string(name) +
                                 " has no effect where all scores come from tables; leave it " +
                                 "out, or choose a recipe with --recipe");
  for (const char* const name : kOfValues)
    if (line.given(name) && !fill)
      throw Error(kFunction, "--" + std::string(name) +
                                 " has no effect where nothing is computed; leave it out, add --fill, or "
                                 "choose a recipe with --recipe");
  if (line.given("lora") && !line.given("model"))
    throw Error(kFunction, "--lora has no effect without -m, the model of the tables");
  if (fill && options.fasta.empty())
    throw Error(kFunction, "--fill computes scores, which needs -f, the FASTA that was scanned");
  if (fill && !line.given("model"))
    throw Error(kFunction, "--fill computes scores, which needs -m, the model of the tables");
  if (!fill && !options.fasta.empty())
    throw Error(kFunction, "-f has no effect where all scores come from tables; leave it out, or add --fill");
}

// Opens the tables of the options; there is at least one. Throws Error.
ScoreTables open_tables(const VepOptions& options) {
  return {options.tables, ContigNames(options.unify_chr_names, options.chr_map)};
}

// Computes the SNVs of the input that the tables lack, as the scan that made these did, and adds a table of
// them, in `folder`, to the options. Beside recipes, --check-ref says whether another REF ends the run;
// tables alone have no such option, and another assembly is the likely reason. Throws Error.
void fill_tables(Engine& engine, VepOptions& options, bool tables_alone, PrivateDirectory& folder) {
  ScoreTables tables = open_tables(options);
  check_same_values(engine.model(), tables);
  check_readable_twice(options.input, "--fill reads the input twice, to find the SNVs that the tables lack");
  const std::string missing = folder.file("missing.bed"), filled = folder.file("filled.bcf");
  folder.file("filled.bcf.csi");
  const uint64_t count =
      write_missing(options, tables, missing, tables_alone || options.check_ref == CheckRef::exit);
  if (count == 0) return;
  options.log->message("vep", std::to_string(count) + " SNVs that the tables lack are computed");
  ScanOptions scan = scan_of(tables, options);
  scan.output = filled;
  scan.selection.regions_file = missing;
  scan.keeps_partial = false;  // the folder is gone after the run
  scan.stop = options.stop;
  run_scan(engine, scan);
  options.tables.push_back(filled);
}

// ---- the run

int run(const CommandLine& line, VepCommand& command) {
  VepOptions& options = command.options;
  const bool tables_alone = only_tables(line, options, command.recipe_table);
  if (command.fill && options.tables.empty())
    throw Error("main_vep", "--fill completes tables of carbon scan; name them with --table");
  if (tables_alone) {
    check_table_options(line, options, command.fill);
  } else if (options.fasta.empty()) {
    throw Error(
        "main_vep",
        "--fasta-ref is missing: name the reference that the VCF was made with; see 'carbon vep --help'");
  }
  check_given(options.scores, choose_pool(line, command));
  if (const std::string idle = idle_setting(options.scores, line.given_names());
      !idle.empty() && !tables_alone)
    program_log().warning("vep", "--" + idle);
  command.common.model.use = options.scores.use();
  if (line.given("shard")) options.shard = parse_shard(command.shard);
  check_tag_prefix(options.tag_prefix);
  if (options.input.empty()) {
    options.input = default_input(line);
    if (options.input.empty()) return 1;
  }
  check_vep_output(options);
  options.version_lines = !command.no_version;
  options.command_line = line.text();
  options.progress = command.common.progress;
  options.log = &program_log();
  if (tables_alone && !command.fill && !line.given("model")) {
    ScoreTables tables = open_tables(options);
    run_vep_tables(options, tables);
    return 0;
  }
  run_with_engine(command.common, options, [&](Engine& engine, VepOptions& run) {
    std::optional<PrivateDirectory> folder;  // of what --fill computes
    if (command.fill && !run.estimate.wanted) fill_tables(engine, run, tables_alone, folder.emplace());
    std::optional<ScoreTables> tables;
    if (!run.tables.empty()) check_same_model(engine.model(), tables.emplace(open_tables(run)));
    if (tables_alone)
      run_vep_tables(run, *tables);
    else
      run_vep(engine, run, tables ? &*tables : nullptr);
  });
  return 0;
}

}  // namespace

Run declare_vep(CommandLine& line) {
  const auto command = std::make_shared<VepCommand>();
  VepOptions& options = command->options;
  options.input.clear();
  line.describe(
      "Annotate a VCF or BCF with variant-effect scores, alternative minus reference",
      "carbon vep -f ref.fa [options] <in.vcf[.gz]> | <in.bcf> | -",
      {{"score a VCF and index the output", "carbon vep -f GRCh38.fa -O z -o scored.vcf.gz -W cohort.vcf.gz"},
       {"one chromosome as a table with one line per allele",
        "carbon vep -f GRCh38.fa -r chr17 -O t -o chr17.tsv cohort.vcf.gz"}},
      "Tags: CARBON_LLR and CARBON_LLR_TOKEN (recipe centered), CARBON_NT (next-token), CARBON_ALLR\n"
      "(anchored) and CARBON_SCAN (--table): ln P with the alternative minus ln P with the reference, in\n"
      "nats; negative means that the model finds the alternative less likely. CARBON_HEAD_<LABEL> (recipe\n"
      "head): the value of a label with the alternative minus that with the reference. CARBON_L2 and\n"
      "CARBON_JSD (--measure): how far states and predictions after the variant lie apart. CARBON_FLAG says\n"
      "why a value is missing.\n"
      "Phase, horizon, strand and other words: carbon-glossary(7).\n");
  line.argument("input", options.input);
  OptionGroup group = line.options();
  group.option({'f', "fasta-ref", kInput, "reference FASTA, plain or BGZF; a missing index is built"},
               options.fasta);
  group.option({'o', "output", kOutput, "output file (default: standard output)"}, options.output);
  group
      .option({'O', "output-type", kVepOutputTypes,
               "format: u or b, BCF, uncompressed or compressed; v or z, VCF; 0-9, the compression level; t, "
               "a table with one line per ALT; bigwig, the lowest score at each POS, for genome browsers"},
              options.output_type)
      .offers({"u", "b", "v", "z", "t", "bigwig"});
  group.option(
      {"header", "HEADER",
       "what stands before the rows of a table: full (default), or plain, the names of the columns alone"},
      options.header, kTableHeaderWords);
  add_index_option(line, options.write_index);
  group.flag("no-version", "leave out the version and the command line, so that equal runs write equal bytes",
             command->no_version);
  add_settings(line, "Options", recipe_options(*command));
  add_settings(line, "Classification head of recipe head", head_options(*command));
  group.option({'c', "check-ref", "w|e|x",
                "if REF differs from the FASTA: w (warn and write no score; default), e (exit) or x (drop "
                "the record)"},
               options.check_ref, kCheckRefWords);
  group
      .option({"max-ref-mismatch", "FRACTION",
               "stop if a larger share of the first 1,000 records differs from the FASTA"},
              options.max_ref_mismatch)
      .range(0.0, 1.0)
      .shows_default();
  group.option({"tag-prefix", "NAME", "prefix of the INFO tags"}, options.tag_prefix).shows_default();
  group.option(
      {"unify-chr-names", "VCF,FASTA", "prefixes to ignore in the contig names of VCF and FASTA, e.g. chr,-"},
      options.unify_chr_names);
  group.option({"chr-map", kInput, "table of two columns: contig name in the VCF, its name in the FASTA"},
               options.chr_map);
  add_selection_options(line, options.selection);
  group.option(
      {"table", kInput,
       "take CARBON_SCAN of SNVs from this indexed output of carbon scan; repeatable. Alone it needs "
       "neither -f nor a model"},
      options.tables);
  group.flag("fill", "with --table, compute the SNVs that no table has, as that scan would", command->fill);
  group.option({"cache", kOutput, "take known scores from this file and add new ones to it"}, options.cache);
  group.option({"histogram", kOutput,
                "also count the scores by type of allele in this file, the background of carbon +rank"},
               options.histogram);
  group.option(
      {"embeddings", kOutput,
       "also write the mean hidden states of the windows with REF and with ALT to this .safetensors or "
       ".npy file; --pool says of which tokens"},
      options.embeddings);
  group.option({"shard", "I/N",
                "annotate only the I-th of N contiguous shares of the records; not with standard input"},
               command->shard);
  add_resume_options(line, options.earlier);
  add_estimate_option(line, options.estimate);
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
