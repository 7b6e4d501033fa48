// --rope-scaling: YaRN asked for on the command line instead of in config.json.
//
// The result is the configuration that an edited config.json would give, so digests, caches and outputs
// cannot tell the two apart. Formula: carbon_model 2.4, computed by rope_inv_freq() in config.hpp.
#pragma once

#include <string>

#include "src/model/config.hpp"

namespace carbon {

/// "none" or "yarn:FACTOR" with a factor of 1 or more. The original context is left open: it is the model's.
/// Throws Error for anything else.
RopeScaling parse_rope_scaling(const std::string& text);

/// "none" or "yarn:FACTOR".
std::string rope_scaling_text(const RopeScaling& scaling);

/// Puts `asked` (of parse_rope_scaling) in the place of what the configuration says, as a whole; only the
/// original context is taken over. max_positions becomes factor * original, or the original with "none".
/// Throws Error when that is more than the program can address.
void apply_rope_scaling(const RopeScaling& asked, ModelConfig& config);

/// What is known to go wrong with the published model of this shape at the context that its YaRN scaling
/// allows; "" without YaRN and for other models.
std::string long_context_warning(const ModelConfig& config);

}  // namespace carbon
