// Recipe `next-token`: the bases before a variant. Their last row gives P_0, the probabilities of the next
// base (docs/conventions.md, "Next-token context"). Published for ClinVar with 24,000 bp (docs/model.md,
// "Published evaluations").
//
// The contexts are pure functions; make_next_token() is the recipe.
#pragma once

#include <string>

#include "src/vep/recipe.hpp"

namespace carbon {

/// The contig range [next_token_begin, next_token_end) of the context of a one-base variant at `pos`.
inline int64_t next_token_begin(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos - context : pos + 1;
}
inline int64_t next_token_end(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos : pos + 1 + context;
}

/// The context in reading direction, without leading N's, and shortened from the left to whole tokens of
/// `bases` bases, of which there may be none.
std::string next_token_context(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand,
                               size_t bases);

/// Throws SettingError for a context that does not fit the model.
std::unique_ptr<const Recipe> make_next_token(const RecipeSettings& settings, const ModelConfig& config);
inline constexpr RecipeEntry kNextToken{"next-token", "NT", "", make_next_token};

}  // namespace carbon
