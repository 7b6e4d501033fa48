// Recipe `head`: what a fine-tuned classification head makes of the windows of `centered`, alternative minus
// reference, for each label (docs/conventions.md, "Classification heads"). A window may have an odd number
// of bases, as published constructs have.
#pragma once

#include "src/vep/recipe.hpp"

namespace carbon {

/// `settings.values` must be set. Throws SettingError for a window that is missing, not possible or does not
/// fit the model.
std::unique_ptr<const Recipe> make_head(const RecipeSettings& settings, const ModelConfig& config);
inline constexpr RecipeEntry kHeadRecipe{"head", "HEAD", "_*", make_head};

}  // namespace carbon
