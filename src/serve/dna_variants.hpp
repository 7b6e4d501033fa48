// POST /v1/dna/variants: what `carbon vep` says of variants.
#pragma once

#include "src/serve/served_model.hpp"
#include "src/serve/shared_reference.hpp"
#include "src/serve/work.hpp"
#include "src/vep/recipe_settings.hpp"
#include "src/vep/variant_scores.hpp"

namespace carbon {

/// The contig of variants on a sequence that is sent with them.
inline constexpr const char* kVariantSequence = "sequence";

/// The recipe of a request. Throws ApiError.
RecipeSettings read_recipe_settings(const Fields& fields);
/// A variant of a request. `placed`: it is on kVariantSequence, else on its field `chrom`. Throws ApiError.
PlacedVariant read_variant(const Fields& variant, bool placed);
/// How many variants are planned together. Only these share windows.
size_t variants_per_step(const SitePlanner& planner);

/// `reference`: the FASTA of the server; null if it has none.
WorkPtr make_dna_variants(const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange);

}  // namespace carbon
