// Where models are found (contract section 2). Never downloads.
#pragma once

#include <string>

namespace carbon {

/// The checkpoint directory for `-m VALUE`: an existing directory with config.json, else a NAME looked up in
/// $CARBON_MODEL_PATH (colon list), $XDG_DATA_HOME/carbon/models (~/.local/share without it), the installed
/// $(datadir)/carbon/models, and the Hugging Face cache ($HF_HUB_CACHE, $HF_HOME/hub,
/// $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub: models--ORG--NAME/snapshots/*, the one
/// refs/main names, else the only one, else Error listing them). Throws Error listing the places searched.
/// Warns if it is the bundled demonstration model.
std::string resolve_model(const std::string& value);

/// The default: $CARBON_MODEL, else the bundled carbon-tiny (beside the program in a build tree, else
/// installed), with one warning that it is a demonstration model.
std::string default_model();

}  // namespace carbon
