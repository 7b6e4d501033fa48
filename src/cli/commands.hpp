// The commands: each declares its options, and returns the function that runs it once they are parsed.
#pragma once

#include "src/cli/command_line.hpp"

namespace carbon {

/// A line of the table of commands in main.cpp.
struct Command {
  const char* name;
  const char* group;
  const char* help;
  Run (*declare)(CommandLine& line);
};

Run declare_vep(CommandLine& line);
Run declare_scan(CommandLine& line);
Run declare_score(CommandLine& line);
Run declare_embed(CommandLine& line);
Run declare_predict(CommandLine& line);
Run declare_generate(CommandLine& line);
Run declare_serve(CommandLine& line);
Run declare_mcp(CommandLine& line);
Run declare_tokenize(CommandLine& line);
Run declare_report(CommandLine& line);
Run declare_models(CommandLine& line);
Run declare_bench(CommandLine& line);
Run declare_plugin(CommandLine& line);
/// argv[0] is +NAME. A plugin's options are known only when it is loaded, and its own come after "--".
int run_plugin_command(int argc, char** argv);

}  // namespace carbon
