// The header that `carbon vep` writes: tag definitions, which model and options were used, and which lines of
// the input's header are removed.
#pragma once

#include <string>
#include <vector>

#include "src/engine/loaded_model.hpp"
#include "src/formats/fasta.hpp"
#include "src/vep/options.hpp"
#include "src/vep/output.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {

/// Path, type, compression and index of the output, its tags, and how its header differs from the input's.
/// Throws Error.
VcfWriterOptions writer_options(const LoadedModel& model, const VepOptions& options,
                                const RecipeList& recipes, const VcfReader& vcf, const IndexedFasta& fasta);

}  // namespace carbon
