// The header line that says with which model, and how, the scores of a file were computed.
#pragma once

#include <string>

#include "src/engine/loaded_model.hpp"

namespace carbon {

/// `##carbon_NAMEModel=<ID=...,Model="...",...,SETTINGS>`: everything that the scores depend on besides the
/// input, so that runs with the same line give the same bytes. `name` is that of the command, `id` the tag of
/// the scores, `settings` are the command's own KEY=VALUE with commas between them.
std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings);

/// Whether a line that model_line() wrote for `name` and `id` names these weights and this data type.
bool is_model_line(const std::string& line, const std::string& name, const std::string& id,
                   const std::string& sha256, const std::string& dtype);

}  // namespace carbon
