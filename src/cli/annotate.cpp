// carbon annotate: options to run_annotate.
#include <memory>

#include "src/annotate/run.hpp"
#include "src/base/error.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/file_name.hpp"
#include "src/files/run_files.hpp"

namespace carbon {
namespace {

constexpr char kFunction[] = "main_annotate";

int run(const CommandLine& line, AnnotateOptions& options) {
  check_annotate_settings(options, line.given_names());
  for (const auto& [name, path] : {std::pair("--proteins", options.proteins), {"--cds", options.coding}})
    if (options.mode == GeneMode::runs && !path.empty())
      throw Error(kFunction, std::string(name) +
                                 " writes what genes code for, and --genes runs calls none; " +
                                 "leave out one of them");
  check_output_name(kFunction, options.output, {"gff3"}, "GFF3",
                    "give it a name that ends in .gff3 or .gff3.gz");
  if (options.files.empty()) options.files.push_back(default_input(line));
  if (options.files.front().empty()) return 1;
  options.log = &program_log();
  run_annotate(options);
  return 0;
}

}  // namespace

Run declare_annotate(CommandLine& line) {
  const auto command = std::make_shared<AnnotateOptions>();
  AnnotateOptions& options = *command;
  line.describe(
      "Genes of sequences, as GFF3, from the probability of every base to be coding",
      "carbon annotate --from-tracks PREFIX [options] <seqs.fa[.gz]>... | -",
      {{"genes and proteins of a genome",
        "carbon annotate --from-tracks genome -o genes.gff3 --proteins proteins.fa genome.fa"},
       {"a bacterium",
        "carbon annotate --from-tracks plasmid --introns no --code 11 --start ATG,GTG,TTG plasmid.fa"}});
  line.arguments("inputs", options.files);
  OptionGroup group = line.options();
  group
      .option({"from-tracks", "PREFIX",
               "bigWig files of both strands with the probabilities: PREFIX.plus.bw and PREFIX.minus.bw"},
              options.tracks)
      .required();
  add_text_output_option(line, options.output);
  group.option({"proteins", kOutput, "also write the proteins, as FASTA"}, options.proteins);
  group.option({"cds", kOutput, "also write the coding sequences, as FASTA"}, options.coding);
  add_record_option(line, options.record);
  add_settings(line, "Options", {mode_setting(options)});
  add_settings(line, "Genes (--genes model)", gene_settings(options));
  add_settings(line, "Runs (--genes runs)", settings_of_runs(options));
  add_progress_option(line, options.progress);
  add_verbosity_options(line);
  line.after_parsing([&options] {
    for (const std::string& path : {plus_track(options.tracks), minus_track(options.tracks)})
      declare_input(path, InputUse::once, kFunction);
  });
  return [command](const CommandLine& parsed) { return run(parsed, *command); };
}

}  // namespace carbon
