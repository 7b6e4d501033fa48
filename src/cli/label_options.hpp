// The options of commands that read a classification head: `carbon predict` and `carbon vep`.
#pragma once

#include "src/cli/command_line.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

/// Adds --pool, --pad-tail, --labels, --label-scale and --activation. `of` ends their descriptions: "" or the
/// recipe that they belong to.
void add_label_options(CommandLine& line, Pooling& pooling, LabelSettings& labels, const std::string& of);
/// The names of these options.
inline constexpr const char* kLabelOptions[] = {"pool", "pad-tail", "labels", "label-scale", "activation"};

}  // namespace carbon
