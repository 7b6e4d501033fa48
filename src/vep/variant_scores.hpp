// Log-likelihood ratios of variants in memory, as `carbon vep` computes them, without VCF files.
#pragma once

#include <functional>
#include <span>

#include "src/engine/engine.hpp"
#include "src/genome/fasta.hpp"
#include "src/vep/variant_planner.hpp"

namespace carbon {

/// Calls `take`, in another thread, with the index and scores of each variant, in order. For `options`, and
/// what variants share, see VariantPlanner. Throws Error for a size that does not fit the model and for a
/// score that is not finite.
void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take);

}  // namespace carbon
