// carbon plugin and carbon +NAME: options to the plugin's run.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
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
        .option({'O', "output-type", kPluginOutputTypes,
                 "format: u or b, BCF, uncompressed or compressed; v or z, VCF; 0-9, the compression level"},
                options.output_type)
        .offers({"u", "b", "v", "z"});
    group.flag("no-version",
               "leave out the version and the command line, so that equal runs write equal bytes",
               command.no_version);
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

// The bounds of a number, of which each may be missing.
template <class T>
std::pair<T, T> bounds_of(const carbon_option& option, T least) {
  std::pair<T, T> bounds(least, std::numeric_limits<T>::max());
  if (option.least) parse_number(option.least, bounds.first);
  if (option.most) parse_number(option.most, bounds.second);
  return bounds;
}

// An option of the plugin's among carbon's own would be refused in words that do not help. One that both have
// is carbon's, which somebody who writes no -- can hardly mean.
void check_places(const CommandLine& line, const CommandLine& theirs, char** begin, char** end, bool dashes) {
  for (char** word = begin; word != end; ++word) {
    const std::string option = std::string(*word).substr(0, std::string(*word).find('='));
    if (!theirs.find(option)) continue;
    const Option* const own = line.find(option);
    const std::string place =
        "it comes after --, as in 'carbon " + line.command() + " input -- " + option + "'";
    if (!own) throw Error("plugin", option + " is an option of the plugin: " + place);
    if (!dashes)
      throw Error("plugin", option + " is an option of the plugin and one of carbon's (" + names_of(*own) +
                                "). For the plugin's, " + place + "; for carbon's, end the line with --");
  }
}

}  // namespace

PluginOptions::PluginOptions(const carbon_plugin& plugin, const std::string& name) : line("+" + name, false) {
  OptionGroup group = line.group("Plugin options, after --");
  for (const carbon_option* o = declared_options(plugin); o && o->name; ++o) {
    const std::string word = std::string("--") + o->name;
    if (!o->value) {
      group.action(o->letter, o->name, o->help, [this, word] { words.push_back(word); });
      continue;
    }
    Option& row =
        group.option({o->letter, o->name, o->value, o->help},
                     [this, word](const std::string& value) { words.push_back(word + "=" + value); });
    row.repeats = o->repeats != 0;
    if (o->kind == CARBON_VALUE_WORD) {
      std::vector<std::string> choices;
      for (const std::string_view choice : split(o->value, '|')) choices.emplace_back(choice);
      row.one_of(std::move(choices));
    } else if (o->kind == CARBON_VALUE_WHOLE) {
      row.limits = bounds_of<size_t>(*o, 0);
    } else if (o->kind == CARBON_VALUE_REAL) {
      row.limits = bounds_of<double>(*o, std::numeric_limits<double>::lowest());
    }
  }
}

bool PluginOptions::read(int argc, char** argv) {
  if (!line.rows().empty()) return !line.parse(argc, argv);
  words.assign(argv + 1, argv + argc);  // known to the plugin alone
  return true;
}

int run_plugin_command(int argc, char** argv) {
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv + 1, end, [](const char* word) { return std::string(word) == "--"; });
  const PluginFile file = find_plugin(std::string(argv[0]).substr(1));
  // Also for what a plugin does at exit. The probe of load_plugin() has survived loading once, but a plugin
  // may behave otherwise the second time.
  report_plugin_crashes(file.name);
  const carbon_plugin& plugin = load_plugin(file);
  PluginOptions theirs(plugin, file.name);
  const std::string heading = declared_options(plugin) ? theirs.line.options_help() + "\n"
                                                       : std::string("Plugin options, after --:\n");
  const std::string help = heading + plugin_usage(plugin, file.name);
  if (std::any_of(dashes, end, [](const std::string& word) { return word == "--help" || word == "-h"; }))
    return std::fputs(help.c_str(), stdout) < 0;

  PluginCommand command;
  PluginRunOptions& options = command.options;
  CommandLine line("+" + file.name);
  line.describe(plugin.about, usage_line(file.name, plugin.uses), {}, help);
  add_options(line, plugin.uses, command);
  check_places(line, theirs.line, argv + 1, dashes, dashes != end);
  if (const std::optional<int> status = line.parse(static_cast<int>(dashes - argv), argv)) return *status;
  if (dashes != end && !theirs.read(static_cast<int>(end - dashes), dashes)) return 1;
  const bool needs_input =
      plugin.uses & (CARBON_READS_RECORDS | CARBON_READS_INPUTS) && !(plugin.uses & CARBON_LACKS_INPUTS);
  if (options.inputs.empty() && needs_input) {
    options.inputs.push_back(default_input(line));
    if (options.inputs.front().empty()) return 1;
  }
  options.name = file.name;
  options.arguments = theirs.words;
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
