// What `carbon vep` was asked for (docs/recipes.md, docs/conventions.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/progress.hpp"
#include "src/base/stop.hpp"
#include "src/genome/vcf.hpp"
#include "src/vep/centered.hpp"
#include "src/vep/next_token.hpp"
#include "src/vep/shard.hpp"

namespace carbon {

enum class Recipe { centered, next_token };
/// recipe_default: both for centered, forward for next-token.
enum class VepStrand { recipe_default, forward, reverse, both };
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
  int64_t window = kDefaultCenteredWindow;
  int64_t context = kDefaultContext;
  CheckRef check_ref = CheckRef::warn;
  double max_ref_mismatch = 0.05;
  std::string tag_prefix = "CARBON";
  std::string unify_chr_names, chr_map;  // "" : exact names
  std::string cache;                     // "" : none
  std::optional<Shard> shard;
  bool resume = false;  // go on from the scores in OUTPUT.partial
  bool version_lines = true;
  std::string command_line;  // for ##carbon_vepCommand
  ProgressMode progress = ProgressMode::automatic;
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody

  bool wants(Recipe recipe) const {
    return std::find(recipes.begin(), recipes.end(), recipe) != recipes.end();
  }
};

/// Refuses an output type, an index or a resumption that the output cannot have; needs no model.
void check_vep_output(const VepOptions& options);

/// Refuses a window or context that the model cannot hold, and values that the recipes do not define.
void check_vep_options(const VepOptions& options, size_t max_positions);

/// The strands that a recipe reads, in the order in which their scores are added.
std::vector<Strand> strands_of(Recipe recipe, VepStrand option);

}  // namespace carbon
