// --draft and --draft-tokens, for the commands that generate.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>

#include "src/engine/loaded_model.hpp"

namespace carbon {

struct DraftChoice {
  std::string model;  // "": none
  std::string tokens = "auto";
};

/// `what`: what a draft never changes, e.g. "the output".
void add_draft_options(CLI::App& app, DraftChoice& draft, const std::string& what);

/// The number of --draft-tokens; none for auto. Throws Error for another text.
std::optional<size_t> draft_tokens(const DraftChoice& draft);

/// Loads the draft as `model` is loaded, if one was chosen.
std::optional<LoadedModels> load_draft(const DraftChoice& draft, ModelOptions model);

}  // namespace carbon
