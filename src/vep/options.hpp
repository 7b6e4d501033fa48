// The options of a run of `carbon vep` (docs/recipes.md, docs/conventions.md). The command line fills them
// in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/base/estimate_options.hpp"
#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/stop.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/output.hpp"
#include "src/vep/recipe_settings.hpp"
#include "src/vep/shard.hpp"

namespace carbon {

/// What happens to a record whose REF differs from the FASTA: a warning and no score, an Error, or no output.
enum class CheckRef { warn, exit, exclude };
inline constexpr Word<CheckRef> kCheckRefWords[] = {
    {"w", CheckRef::warn}, {"e", CheckRef::exit}, {"x", CheckRef::exclude}};

struct VepOptions {
  std::string input = "-";
  std::string fasta;
  std::string output = "-";
  std::string output_type;                 // "", u, b[0-9], v, z[0-9], t
  std::string write_index;                 // "", csi, tbi
  TableHeader header = TableHeader::full;  // of a table
  VcfReaderOptions selection;
  RecipeSettings scores;
  CheckRef check_ref = CheckRef::warn;
  double max_ref_mismatch = 0.05;  // share of mismatching records above which the assembly must be wrong
  std::string tag_prefix = "CARBON";
  std::string unify_chr_names, chr_map;  // for ContigNames; "" : names must be equal
  std::string cache;                     // "" : none
  std::string embeddings;                // a file of mean hidden states; "" : none
  std::string histogram;                 // of the scores; "" : none
  std::vector<std::string> tables;       // of carbon scan
  std::optional<Shard> shard;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of the scores in OUTPUT.partial
  bool version_lines = true;
  std::string command_line;  // for ##carbon_vepCommand
  EstimateOptions estimate;  // print the expected work and run time, then exit
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// Path, type, compression and index of the output. Throws Error.
VcfWriterOptions output_options(const VepOptions& options);

/// Throws Error for an output type or an index that the output cannot have, and if `resume` is set for an
/// output that cannot be continued. Needs no model.
void check_vep_output(const VepOptions& options);

}  // namespace carbon
