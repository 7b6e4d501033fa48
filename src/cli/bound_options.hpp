// The bounds of `carbon generate`: --gc, --gc-window, --avoid, --no-stop and --max-homopolymer.
#pragma once

#include "src/cli/command_line.hpp"
#include "src/generate/options.hpp"

namespace carbon {

/// Adds the options, which fill in `bounds` when the command line is read. Reading one throws Error for a
/// value that means nothing.
void add_bound_options(CommandLine& line, BoundOptions& bounds);

}  // namespace carbon
