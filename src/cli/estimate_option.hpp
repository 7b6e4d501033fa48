// --estimate of the commands that have --shard: with a time, it proposes shares that take no longer each.
#pragma once

#include <cstdint>
#include <string>

#include "src/base/estimate_options.hpp"
#include "src/cli/command_line.hpp"

namespace carbon {

/// Adds --estimate[=TIME].
void add_estimate_option(CommandLine& line, EstimateOptions& estimate);

/// The parsed command line as it runs one of `shares` shares, whose number is $I, as a line for a shell: each
/// file that it writes gets this number into its name.
std::string share_command(const CommandLine& line, uint64_t shares);

/// Seconds for 8h, 90m, 2d or 1h30m. Throws Error.
double parse_duration(const std::string& text);

}  // namespace carbon
