// The header that `carbon vep` writes: tag definitions, which model and options were used, and what becomes
// of the scores that the input has from earlier runs.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/loaded_model.hpp"
#include "src/vep/options.hpp"
#include "src/vep/output.hpp"
#include "src/vep/recipe.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {

/// The tags of a run, and which weights compute them.
struct ScoredTags {
  std::string sha256, dtype;
  std::vector<InfoTag> tags;       // without the flag
  std::vector<std::string> lines;  // what the scores of each depend on
};
/// Of recipes and, unless it is null, of tables, which come last.
ScoredTags scored_tags(const LoadedModel& model, const std::string& prefix, const RecipeList& recipes,
                       const ScoreTables* tables);
/// Of tables alone.
ScoredTags scored_tags(const std::string& prefix, const ScoreTables& tables);

/// The tags that an input has from earlier runs with the same prefix, besides the flag.
struct EarlierScores {
  std::vector<std::string> replaced;  // this run computes them anew
  std::vector<std::string> removed;   // of other weights or another data type, or of unknown ones
  std::vector<std::string> kept;      // of the same weights and data type
  bool flag = false;                  // it has the flag
  /// Of tags that other weights, or these with another data type, have computed: "Carbon-500M (bf16)".
  std::map<std::string, std::string> other_models;
};
EarlierScores earlier_scores(const ScoredTags& scored, const std::string& prefix, const VcfReader& vcf);
/// What the output keeps of them.
KeptScores kept_scores(const EarlierScores& earlier, const std::string& prefix);

/// Path, type, compression and index of the output, its tags, and how its header differs from the input's.
/// Throws Error.
VcfWriterOptions writer_options(const VepOptions& options, const ScoredTags& scored,
                                const EarlierScores& earlier);

/// Says what becomes of the scores of earlier runs in an output that has them.
void say_earlier(const EarlierScores& earlier, const std::string& prefix, Log& log);

}  // namespace carbon
