// carbon vep: options to run_vep.
#include <cctype>

#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/metadata_options.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
#include "src/cli/vep_tables.hpp"
#include "src/files/output.hpp"
#include "src/vep/run.hpp"
#include "src/vep/table_run.hpp"

namespace carbon {
namespace {

// Throws Error, with a prefix near to this one, if no INFO tag may begin with it.
void check_tag_prefix(const std::string& prefix) {
  std::string allowed = prefix;
  for (char& c : allowed)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '_';
  if (!allowed.empty() && (std::isdigit(static_cast<unsigned char>(allowed[0])) != 0 || allowed[0] == '.'))
    allowed.insert(0, "_");
  if (!prefix.empty() && allowed == prefix) return;
  throw Error("main_vep", "--tag-prefix '" + prefix +
                              "': expected letters, digits, _ and ., not starting with a digit or ." +
                              (prefix.empty() ? "" : "; write " + allowed));
}

}  // namespace

int cmd_vep(int argc, char** argv) {
  CLI::App app("Annotate a VCF or BCF with variant-effect scores, alternative minus reference");
  set_usage(app, "carbon vep -f ref.fa [options] <in.vcf[.gz]> | <in.bcf> | -",
            {{"score a VCF and index the output",
              "carbon vep -f GRCh38.fa -O z -o scored.vcf.gz -W clinvar.vcf.gz"},
             {"one chromosome as a table with one line per allele",
              "carbon vep -f GRCh38.fa -r chr17 -O t -o chr17.tsv clinvar.vcf.gz"},
             {"look SNVs up in a scan of the genome", "carbon vep --table scan.tsv.gz clinvar.vcf.gz"}});
  VepOptions options;
  CommonOptions common;
  RecipeSettings& scores = options.scores;
  std::string recipes = "centered", horizons, shard;
  bool no_version = false, fill = false;
  options.input.clear();
  app.add_option("input", options.input, "VCF or BCF; - is standard input");
  app.add_option("-f,--fasta-ref", options.fasta, "reference FASTA, plain or BGZF; a missing index is built")
      ->type_name("FILE");
  app.add_option("-o,--output", options.output, "output file (default: standard output)")->type_name("FILE");
  app.add_option("-O,--output-type", options.output_type,
                 "u/b: un/compressed BCF, v/z: un/compressed VCF, 0-9: level; t: table, one line per ALT")
      ->type_name("u|b|v|z[0-9]|t");
  app.add_option("-W,--write-index", options.write_index,
                 "write an index of the output file: csi (default) or tbi")
      ->type_name("[=csi|tbi]");
  app.add_flag("--no-version", no_version, "do not write version and command line into the header");
  app.add_option("--recipe", recipes, "centered (default), next-token or anchored, or several with commas")
      ->type_name("LIST");
  app.add_option("-w,--window", scores.window, "window of recipe centered in bp, even (default: 8192)")
      ->type_name("BP");
  app.add_option(
         "--context", scores.context,
         "left context in bp of recipe next-token (default: 24000; GENERator: 8192) or anchored (default: "
         "4098)")
      ->type_name("BP");
  app.add_option("--horizon", horizons,
                 "bases after the allele that recipe anchored compares (default: 768); a tag for each of "
                 "several")
      ->type_name("BP[,BP...]");
  app.add_option("--strand", scores.strand, "+, - or both (default: both, but + for next-token)")
      ->type_name("STRAND")
      ->transform(choice_of(kStrandWords));
  app.add_option(
         "--phases", scores.phases,
         "mean over 1 or 6 phases of the window; auto (default): 6 where the allele changes the length")
      ->type_name("auto|1|6")
      ->transform(choice_of(kPhaseWords));
  app.add_option("-c,--check-ref", options.check_ref,
                 "if REF differs from the FASTA: w (warn and write no score; default), e (exit) or x (drop "
                 "the record)")
      ->type_name("w|e|x")
      ->transform(choice_of(kCheckRefWords));
  app.add_option("--max-ref-mismatch", options.max_ref_mismatch,
                 "stop if a larger share of the first 1,000 records differs from the FASTA (default: 0.05)")
      ->type_name("FRACTION")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--tag-prefix", options.tag_prefix, "prefix of the INFO tags (default: CARBON)")
      ->type_name("NAME");
  app.add_option("--unify-chr-names", options.unify_chr_names,
                 "prefixes to ignore in the contig names of VCF and FASTA, e.g. chr,-")
      ->type_name("VCF,FASTA");
  app.add_option("--chr-map", options.chr_map,
                 "table of two columns: contig name in the VCF, its name in the FASTA")
      ->type_name("FILE");
  add_selection_options(app, options.selection);
  app.add_option(
         "--table", options.tables,
         "take CARBON_SCAN of SNVs from this indexed output of carbon scan; repeatable. Alone it needs "
         "neither -f nor a model")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_flag("--fill", fill, "with --table, compute the SNVs that no table has, as that scan would");
  app.add_option("--cache", options.cache, "take known scores from this file and add new ones to it")
      ->type_name("FILE");
  app.add_option("--shard", shard,
                 "annotate only the I-th of N contiguous shares of the records; not with standard input")
      ->type_name("I/N");
  add_resume_options(app, options.earlier);
  app.add_flag("--estimate", options.estimate, "print the expected work and run time, then exit");
  add_metadata_options(app, common.model.metadata, "Metadata");
  add_common_options(app, common);

  if (const int status = parse_options(app, argc, argv, "vep"); status >= 0) return status;
  check_metadata_names(common.model.metadata.names);
  const bool tables_alone = only_tables(app, options, recipes);
  if (fill && options.tables.empty())
    throw Error("main_vep", "--fill completes tables of carbon scan; name them with --table");
  if (tables_alone) {
    check_table_options(app, options, fill);
  } else if (options.fasta.empty()) {
    throw Error("main_vep", "-f, --fasta-ref is missing: name the reference that the VCF was made with");
  }
  with_dashes("main_vep", [&] {
    if (!tables_alone) scores.recipes = parse_recipes(recipes);
    if (app.count("--horizon") > 0) scores.horizons = parse_horizons(horizons);
    check_combination(scores);
  });
  if (app.count("--shard") > 0) options.shard = parse_shard(shard);
  check_tag_prefix(options.tag_prefix);
  if (!options.unify_chr_names.empty() && !options.chr_map.empty())
    throw Error("main_vep", "--unify-chr-names and --chr-map cannot be combined");
  if (options.input.empty()) {
    options.input = default_input(app);
    if (options.input.empty()) return 1;
  }
  check_vep_output(options);
  std::vector<std::string> inputs = options.tables;
  inputs.insert(inputs.end(), {options.input, options.fasta, options.chr_map});
  check_keeps_inputs("main_vep", options.output, inputs);
  if (app.count("--cache") > 0 && options.cache.empty()) throw Error("main_vep", "--cache names no file");
  options.version_lines = !no_version;
  options.command_line = command_line(argc, argv);
  options.progress = common.progress;
  options.log = &program_log();
  if (tables_alone && !fill && app.count("--model") == 0) {
    run_vep_tables(options);
    return 0;
  }
  LoadedModels models(common.model);
  Engine engine(models.all());
  PrivateDirectory folder;  // of what --fill computes
  if (fill) fill_tables(engine, options, folder);
  std::optional<ScoreTables> tables;
  if (!options.tables.empty())
    check_same_model(engine.model(),
                     tables.emplace(options.tables, contig_names(options.unify_chr_names, options.chr_map)));
  if (tables_alone) {
    run_vep_tables(options);
    return 0;
  }
  SignalStop stop;
  options.stop = &stop;
  run_vep(engine, options, tables ? &*tables : nullptr);
  return 0;
}

}  // namespace carbon
