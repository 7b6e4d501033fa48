// Finds the directory of a model by its name (docs/conventions.md, "Models"). Downloads nothing.
#pragma once

#include <string>

#include "src/base/log.hpp"

namespace carbon {

/// The checkpoint directory that `value` means: a directory with config.json, or a name. A name is looked up
/// in
///   1. the directories of $CARBON_MODEL_PATH, separated by colons;
///   2. $XDG_DATA_HOME/carbon/models (default ~/.local/share/carbon/models);
///   3. the installed $(datadir)/carbon/models;
///   4. the Hugging Face cache: $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or
///      ~/.cache/huggingface/hub, under models--ORG--NAME/snapshots. The snapshot is the one that refs/main
///      names, or the only one. Several snapshots without refs/main are an Error that lists them.
/// Throws Error, which lists the places searched, if there is no such model. Warns if it is the bundled
/// demonstration model.
std::string resolve_model(const std::string& value, Log& log = silent_log());

/// The model of a run for which none was chosen: $CARBON_MODEL, or the bundled carbon-tiny, with a warning
/// that it is a demonstration model. carbon-tiny is looked for next to the program, as in a build tree, and
/// then where it is installed.
std::string default_model(Log& log = silent_log());

}  // namespace carbon
