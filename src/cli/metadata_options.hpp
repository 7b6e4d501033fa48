// --prefix, --species, --gene-type and --tag-grammar: what a sequence is said to be, for every command that
// runs a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/engine/loaded_model.hpp"

namespace carbon {

/// Adds the options under the heading `group`. Reading the command line throws Error for --tag-grammar
/// without a name.
void add_metadata_options(CLI::App& app, MetadataChoice& metadata, const std::string& group);

}  // namespace carbon
