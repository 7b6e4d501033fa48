// The header line that says with which model, and how, the scores of a file were computed.
#pragma once

#include <string>

#include "src/engine/loaded_model.hpp"

namespace carbon {

/// `##carbon_NAMEModel=<ID=...,Model="...",...,SETTINGS>`: everything that the scores depend on besides the
/// input, so that runs with the same line give the same bytes. `name` is that of the command, `settings` are
/// its own KEY=VALUE with commas between them.
std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings);

}  // namespace carbon
