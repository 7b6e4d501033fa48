// Log-likelihood ratios of variants in memory, as `carbon vep` computes them, without VCF files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/genome/fasta.hpp"
#include "src/vep/options.hpp"
#include "src/vep/site.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// A variant on a contig of the FASTA; letters of any case.
struct PlacedVariant {
  std::string contig;
  Variant variant;
};

struct VariantScores {
  /// For each tag of score_tags() one score per ALT. Nats, alternative minus reference, the mean of the
  /// strands: exactly the number that `carbon vep` rounds to a float. NaN where it is missing.
  SiteValues values;
  /// One per ALT: why its first missing score is missing.
  std::vector<AlleleFlag> flags;
};

/// Calls `take`, in another thread, with the index and scores of each variant, in order. Of `options` it uses
/// recipes, strand, phases and the sizes of windows, contexts and horizons. Variants that follow one another
/// share the windows of recipe anchored within this call only. Throws Error for a size that does not fit the
/// model and for a score that is not finite.
void score_variants(Engine& engine, const IndexedFasta& fasta, const VepOptions& options,
                    std::span<const PlacedVariant> variants,
                    const std::function<void(size_t, const VariantScores&)>& take);

}  // namespace carbon
