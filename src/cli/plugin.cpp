// carbon plugin and carbon +NAME: options to the plugin's run.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/signals.hpp"
#include "src/plugin/host.hpp"
#include "src/plugin/loader.hpp"

namespace carbon {
namespace {

// A directory's plugins below its name; those that do not load are warned of. A name found before stays the
// one that runs.
void list_directory(const std::string& directory, bool verbose, std::set<std::string>& seen) {
  const std::vector<PluginFile> files = plugins_in(directory);
  if (files.empty() && !verbose) return;
  std::printf("%s%s\n", directory.c_str(), files.empty() ? " (no plugins)" : "");
  for (const PluginFile& file : files) {
    const bool hidden = !seen.insert(file.name).second;
    if (hidden && !verbose) continue;
    try {
      const PluginSummary summary = probe_plugin(file);
      std::printf("    %-16s %-8s %s%s\n", ("+" + file.name).c_str(), summary.version.c_str(),
                  summary.about.c_str(), hidden ? " (hidden by the one above)" : "");
      if (verbose) std::printf("    %-16s %s\n", "", file.path.c_str());
    } catch (const Error& error) {
      program_log().warning(error.function(), error.what(), error.advice());
    }
  }
}

struct PluginCommand {
  PluginRunOptions options;
  CommonOptions common;
  bool no_version = false;
};

// What `uses` asks for, as options of carbon's own.
void add_options(CommandLine& line, uint32_t uses, PluginCommand& command) {
  PluginRunOptions& options = command.options;
  if (uses & CARBON_READS_RECORDS) line.arguments("input", options.inputs, (uses & CARBON_READS_MORE) != 0);
  if (uses & CARBON_READS_INPUTS) line.arguments("inputs", options.inputs);
  OptionGroup group = line.options();
  group.option({'o', "output", kOutput, "output file (default: standard output)"}, options.output);
  if (uses & (CARBON_WRITES_RECORDS | CARBON_WRITES_VCF)) {
    group
        .option({'O', "output-type", "u|b|v|z[0-9]",
                 "u/b: un/compressed BCF, v/z: un/compressed VCF, 0-9: level"},
                options.output_type)
        .offers({"u", "b", "v", "z"});
    group.flag("no-version", "do not write version and command line into the header", command.no_version);
  }
  if (uses & CARBON_READS_RECORDS) add_selection_options(line, options.selection);
  if (uses & CARBON_USES_MODEL) {
    add_common_options(line, command.common);
  } else {
    if (uses & CARBON_READS_RECORDS) add_progress_option(line, command.common.progress);
    add_verbosity_options(line);
  }
}

std::string usage_line(const std::string& name, uint32_t uses) {
  return "carbon +" + name + " [options]" +
         (uses & CARBON_READS_MORE      ? " <in.vcf[.gz] | in.bcf | ->..."
          : uses & CARBON_LACKS_INPUTS  ? ""
          : uses & CARBON_READS_RECORDS ? " <in.vcf[.gz]> | <in.bcf> | -"
          : uses & CARBON_READS_INPUTS  ? " <input>..."
                                        : "") +
         " -- [plugin options]";
}

// An option of the plugin's among carbon's own would be refused in words that do not help. One that both have
// is carbon's, which somebody who writes no -- can hardly mean.
void check_places(const CommandLine& line, char** begin, char** end, bool dashes, const std::string& name,
                  const std::string& usage) {
  for (char** word = begin; word != end; ++word) {
    const std::string option = std::string(*word).substr(0, std::string(*word).find('='));
    const bool is_letter = option.size() == 2 && option[0] == '-' && option != "--";
    const bool theirs =
        is_letter ? usage.find("  " + option + ",--") != std::string::npos
                  : option.starts_with("--") && (usage.find("  " + option + " ") != std::string::npos ||
                                                 usage.find("," + option + " ") != std::string::npos);
    const Option* own = line.find(option);
    const std::string place = "it comes after --, as in 'carbon +" + name + " input -- " + option + "'";
    if (theirs && !own) throw Error("plugin", option + " is an option of the plugin: " + place);
    if (theirs && !dashes)
      throw Error("plugin", option + " is an option of the plugin and one of carbon's (" + names_of(*own) +
                                "). For the plugin's, " + place + "; for carbon's, end the line with --");
  }
}

}  // namespace

int run_plugin_command(int argc, char** argv) {
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv + 1, end, [](const char* word) { return std::string(word) == "--"; });
  const std::vector<std::string> arguments(dashes == end ? end : dashes + 1, end);
  const PluginFile file = find_plugin(std::string(argv[0]).substr(1));
  // Also for what a plugin does at exit. The probe of load_plugin() has survived loading once, but a plugin
  // may behave otherwise the second time.
  report_plugin_crashes(file.name);
  const carbon_plugin& plugin = load_plugin(file);
  for (const std::string& argument : arguments)
    if (argument == "--help" || argument == "-h")
      return std::fputs(plugin_usage(plugin, file.name).c_str(), stdout) < 0;

  PluginCommand command;
  PluginRunOptions& options = command.options;
  const std::string usage = plugin_usage(plugin, file.name);
  CommandLine line("+" + file.name);
  line.describe(plugin.about, usage_line(file.name, plugin.uses), {}, "Plugin options, after --:\n" + usage);
  add_options(line, plugin.uses, command);
  check_places(line, argv + 1, dashes, dashes != end, file.name, usage);
  if (const std::optional<int> status = line.parse(static_cast<int>(dashes - argv), argv)) return *status;
  const bool needs_input =
      plugin.uses & (CARBON_READS_RECORDS | CARBON_READS_INPUTS) && !(plugin.uses & CARBON_LACKS_INPUTS);
  if (options.inputs.empty() && needs_input) {
    options.inputs.push_back(default_input(line));
    if (options.inputs.front().empty()) return 1;
  }
  options.name = file.name;
  options.arguments = arguments;
  options.version_lines = !command.no_version;
  options.command_line = command_text(argc, argv);
  options.model = command.common.model;
  options.progress = command.common.progress;
  options.log = &program_log();
  // A plugin that asks a model, and writes no records, has its table at the end.
  if ((plugin.uses & (CARBON_USES_MODEL | CARBON_WRITES_RECORDS | CARBON_WRITES_VCF)) == CARBON_USES_MODEL)
    program_log().set_results_on_stdout(false);
  SignalStop stop;
  options.stop = &stop;
  const std::vector<std::string> unmet = run_plugin(plugin, options);
  for (const std::string& text : unmet) program_log().error(options.name, text);
  return unmet.empty() ? 0 : 1;
}

Run declare_plugin(CommandLine& line) {
  struct Listing {
    bool list = false, verbose = false;
  };
  const auto options = std::make_shared<Listing>();
  line.describe("List the plugins, or run one: 'carbon plugin NAME' is the same as 'carbon +NAME'",
                "carbon plugin -l [-v]",
                {{"what plugins there are", "carbon plugin -l"}, {"the help of one", "carbon +rank --help"}});
  OptionGroup group = line.options();
  group.flag('l', "list", "list the plugins by directory: name, version and what they do", options->list);
  group.flag('v', "verbose", "with -l: also show files, directories without plugins, and hidden plugins",
             options->verbose);
  return [options](const CommandLine& parsed) {
    if (!options->list) {
      std::fputs(parsed.help().c_str(), stderr);
      return 1;
    }
    std::set<std::string> seen;
    for (const std::string& directory : plugin_directories())
      list_directory(directory, options->verbose, seen);
    return 0;
  };
}

}  // namespace carbon
