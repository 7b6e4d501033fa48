// The options of a run of `carbon vep` (docs/recipes.md, docs/conventions.md). The command line fills them
// in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/stop.hpp"
#include "src/genome/vcf.hpp"
#include "src/model/config.hpp"
#include "src/vep/anchored.hpp"
#include "src/vep/centered.hpp"
#include "src/vep/next_token.hpp"
#include "src/vep/shard.hpp"

namespace carbon {

enum class Recipe { centered, next_token, anchored };
/// recipe_default: both for centered and anchored, forward for next-token.
enum class VepStrand { recipe_default, forward, reverse, both };
/// In how many phases (centered.hpp) an allele is read: six if it changes the length and else one, one, or
/// six.
enum class PhaseChoice { automatic, one, six };
/// What happens to a record whose REF differs from the FASTA: a warning and no score, an Error, or no output.
enum class CheckRef { warn, exit, exclude };

struct VepOptions {
  std::string input = "-";
  std::string fasta;
  std::string output = "-";
  std::string output_type;  // "", u, b[0-9], v, z[0-9], t
  std::string write_index;  // "", csi, tbi
  VcfReaderOptions selection;
  std::vector<Recipe> recipes = {Recipe::centered};
  VepStrand strand = VepStrand::recipe_default;
  PhaseChoice phases = PhaseChoice::automatic;         // of recipes centered and anchored
  int64_t window = kDefaultCenteredWindow;             // bp, of centered
  std::optional<int64_t> context;                      // bp, of next-token; none: that of the model's family
  int64_t anchored_context = kDefaultAnchoredContext;  // bp, of anchored
  std::vector<int64_t> horizons = {kDefaultHorizon};   // bp, of anchored; they ascend
  CheckRef check_ref = CheckRef::warn;
  double max_ref_mismatch = 0.05;  // share of mismatching records above which the assembly must be wrong
  std::string tag_prefix = "CARBON";
  std::string unify_chr_names, chr_map;  // for ContigNames; "" : names must be equal
  std::string cache;                     // "" : none
  std::optional<Shard> shard;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of the scores in OUTPUT.partial
  bool version_lines = true;
  std::string command_line;  // for ##carbon_vepCommand
  bool estimate = false;     // print the expected work and run time, then exit
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody

  bool wants(Recipe recipe) const {
    return std::find(recipes.begin(), recipes.end(), recipe) != recipes.end();
  }
};

/// Path, type, compression and index of the output. Throws Error.
VcfWriterOptions output_options(const VepOptions& options);

/// Throws Error for an output type or an index that the output cannot have, and if `resume` is set for an
/// output that cannot be continued. Needs no model.
void check_vep_output(const VepOptions& options);

/// Throws Error for a window that recipe centered, if it is wanted, does not allow or that does not fit the
/// model.
void check_vep_window(const VepOptions& options, const ModelConfig& config);
/// Fills in what depends on the model, the context of next-token. Throws Error for a context that the other
/// recipes do not allow or that does not fit the model.
void complete_vep_contexts(VepOptions& options, const ModelConfig& config);
/// Throws Error for horizons of recipe anchored that do not fit the model with its context.
void check_vep_horizons(const VepOptions& options, const ModelConfig& config);
/// All of these, in this order.
void complete_vep_options(VepOptions& options, const ModelConfig& config);

/// The number of phases in which an allele is read.
int phases_of(const NormalAllele& allele, PhaseChoice choice);

/// The strands that a recipe reads, in the order in which their scores are added.
std::vector<Strand> strands_of(Recipe recipe, VepStrand option);

}  // namespace carbon
