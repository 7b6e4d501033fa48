// Finds a model by its name (docs/conventions.md, "Models"), and lists what there is. Downloads nothing.
#pragma once

#include <string>
#include <vector>

#include "src/base/log.hpp"

namespace carbon {

/// The model that `value` means: a checkpoint directory, a GGUF file, a directory with one model in GGUF
/// files, or a name. Returns the checkpoint directory or the GGUF file. A name is looked up in
///   1. the directories of $CARBON_MODEL_PATH, separated by colons;
///   2. $XDG_DATA_HOME/carbon/models (default ~/.local/share/carbon/models);
///   3. the installed $(datadir)/carbon/models;
///   4. the Hugging Face cache (hub_dir() in model_files.hpp), under models--ORG--NAME/snapshots.
///      The snapshot is the one that refs/main names, or, without refs/main, the only one. Otherwise it is an
///      Error that lists the snapshots.
/// In 1 to 3 a name also means the file NAME.gguf, and after them carbon-tiny means the bundled model. Throws
/// Error, which lists the places searched and says why what lies there is not a model. Warns if it is the
/// bundled demonstration model.
std::string resolve_model(const std::string& value, Log& log = silent_log());
/// Whether the model in this directory is the bundled one, by its name.
bool is_demonstration_model(const std::string& dir);

/// Whether a run for which no model was chosen gets the bundled one, because $CARBON_MODEL names none.
bool default_is_bundled();
/// The model of a run for which none was chosen: $CARBON_MODEL, or the bundled carbon-tiny, with a warning
/// that it is a demonstration model. carbon-tiny is looked for next to the program, as in a build tree, and
/// then where it is installed.
std::string default_model(Log& log = silent_log());

/// Something in one of the places, or what a name was resolved to.
struct ListedModel {
  std::string name;   // by which resolve_model() finds it
  std::string path;   // as resolve_model() returns it; if it is not a model, what lies there
  std::string place;  // where it was found, such as "CARBON_MODEL_PATH"
  std::string why;    // if it is not a model: the reason
};

/// What lies in the places where resolve_model() looks, and the bundled model, in that order; a name that two
/// places have is listed for both. Reads directories only, and no more than some thousand entries of each.
std::vector<ListedModel> list_models();

}  // namespace carbon
