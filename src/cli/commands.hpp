// src/cli/: the command line of carbon: the words of a shell come in, the room of a command is called with
// the options that they set, and what it returns or throws goes out as messages and an exit status.
//
// Here are the commands: each declares its options, and returns the function that runs it once they are
// parsed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/cli/command_line.hpp"

struct carbon_plugin;  // plugins/carbon_plugin.h, which does not go together with carbon.h

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
Run declare_annotate(CommandLine& line);
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
/// The options that a plugin declares, which come after "--", as a command line of their own.
struct PluginOptions {
  PluginOptions(const carbon_plugin& plugin, const std::string& name);
  /// Reads the words after argv[0]. Returns false after an error. Throws Error.
  bool read(int argc, char** argv);

  CommandLine line;
  std::vector<std::string> words = {};  // what the plugin is given
};
/// argv[0] is +NAME. A plugin's options are known only when it is loaded.
int run_plugin_command(int argc, char** argv);
/// carbon completion bash|zsh: prints a script that completes command lines, for the shell to load.
int cmd_completion(std::span<const Command> commands, int argc, char** argv);

}  // namespace carbon
