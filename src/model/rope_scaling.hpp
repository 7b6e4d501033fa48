// Rope scaling that the user of a model asks for, in place of that of config.json.
//
// The result is the same configuration that an edited config.json would give, so digests, caches and outputs
// are the same in both cases. The formula is in docs/model.md, "YaRN"; rope_inv_freq() (config.hpp) computes
// it.
#pragma once

#include <string>

#include "src/model/config.hpp"

namespace carbon {

/// Reads "none" or "yarn:FACTOR" with a factor of 1 or more. The original context is not set: it is that of
/// the model. Throws Error for any other text.
RopeScaling parse_rope_scaling(const std::string& text);

/// Writes "none" or "yarn:FACTOR".
std::string rope_scaling_text(const RopeScaling& scaling);

/// Replaces the rope scaling of the configuration by `asked`, as parse_rope_scaling() returns it; of the
/// former scaling only the original context is kept. max_positions becomes factor * original context, or with
/// "none" the original context. Throws Error if that exceeds kMaxPositions, and for a model with rope_type
/// llama3.
void apply_rope_scaling(const RopeScaling& asked, ModelConfig& config);

/// What is known to go wrong if the published model of this shape uses the context that its YaRN scaling
/// allows. Empty without YaRN and for other models.
std::string long_context_warning(const ModelConfig& config);

}  // namespace carbon
