// carbon completion bash|zsh: a script that completes command lines, for the shell to load.
#pragma once

#include <span>

#include "src/cli/commands.hpp"

namespace carbon {

int cmd_completion(std::span<const Command> commands, int argc, char** argv);

}  // namespace carbon
