#include "src/mcp/mcp.hpp"

#include <iostream>

#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"

namespace carbon {
namespace {

struct McpCommand {
  CommonOptions common;
  std::string fasta, root;
};

int run(McpCommand& command) {
  command.common.model.use = ModelUse::any;  // which tools there are, the model says
  McpTools tools(command.common.model, command.fasta, command.root, program_log());
  talk_mcp(tools, std::cin, std::cout);
  return 0;
}

}  // namespace

Run declare_mcp(CommandLine& line) {
  const auto command = std::make_shared<McpCommand>();
  line.describe("Offer a model as tools to programs that speak the Model Context Protocol",
                "carbon mcp [-m MODEL] [-f ref.fa] [--root DIR]",
                {{"tools of the bundled model, to try a client", "carbon mcp"},
                 {"scores of variants of a genome, with files in a folder",
                  "carbon mcp -m HuggingFaceBio/Carbon-500M -f GRCh38.fa --root results"}});
  OptionGroup group = line.options();
  group.option(
      {'f', "fasta-ref", kInput, "reference FASTA of variants and regions; a missing index is built"},
      command->fasta);
  group.option({"root", kDirectory,
                "folder below which tools may read files, and write arrays that are too long for an answer"},
               command->root);
  add_metadata_options(line, "Metadata", command->common.model.metadata);
  add_common_options(line, command->common);
  return [command](const CommandLine&) { return run(*command); };
}

}  // namespace carbon
