// Where models lie: directories of models, and the Hugging Face cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "src/model/model_files.hpp"

namespace carbon {

inline constexpr const char* kBundledModel = "carbon-tiny";

/// A directory with models.
struct ModelPlace {
  std::string name;  // for lists: "CARBON_MODEL_PATH", "user" or "installed"
  std::filesystem::path dir;
};

/// The directories in which names are looked up, in order.
std::vector<ModelPlace> model_places();
/// Where the bundled model may be, in order: beside the program, as in a build tree, and installed.
std::vector<std::filesystem::path> bundled_places();

/// The hub directory of the Hugging Face cache, where huggingface_hub has it: $HF_HUB_CACHE, else
/// $HUGGINGFACE_HUB_CACHE, else the directory hub in $HF_HOME, else in $XDG_CACHE_HOME/huggingface or
/// ~/.cache/huggingface. "~", "~USER", "$NAME" and "${NAME}" in these values are expanded.
std::filesystem::path hub_dir();
/// The directory of ORG/NAME in it.
std::filesystem::path hub_repository(const std::filesystem::path& hub, std::string name);
/// ORG/NAME of such a directory; empty for another.
std::string repository_name(const std::filesystem::path& repository);
/// The model of a repository in the cache.
ModelAt model_of_repository(const std::filesystem::path& repository);

/// The entries of a directory that are not hidden, in order; of one with very many, the first that the system
/// returns.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& dir);

}  // namespace carbon
