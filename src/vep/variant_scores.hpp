// Log-likelihood ratios of variants in memory: the planner of `carbon vep` without its files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/genome/fasta.hpp"
#include "src/vep/options.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// A variant on a contig of the FASTA; letters of any case.
struct PlacedVariant {
  std::string contig;
  Variant variant;
};

/// Per ALT: nats, alt minus ref, mean of the strands, to the bit what `carbon vep` rounds to a float; NaN
/// with a flag.
struct VariantScores {
  std::vector<double> values;
  std::vector<AlleleFlag> flags;
};

/// Calls `take`, in another thread, with the index and scores of each variant, in order. Of `options` the one
/// recipe, strand, window and context count. Throws Error for options that the model cannot hold and for a
/// score that is not finite.
void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take);

}  // namespace carbon
