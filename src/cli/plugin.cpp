// carbon plugin and carbon +NAME: options to the plugin's run.
#include <algorithm>
#include <cstdio>
#include <set>

#include "src/cli/commands.hpp"
#include "src/cli/crash_guard.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/cli/stop_signals.hpp"
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

// What `uses` asks for, as options of carbon's own.
void add_options(CLI::App& app, uint32_t uses, PluginRunOptions& options, CommonOptions& common,
                 bool& no_version) {
  if (uses & CARBON_READS_RECORDS)
    app.add_option("input", options.inputs, "VCF or BCF; - is standard input")
        ->expected(1, uses & CARBON_READS_MORE ? -1 : 1);  // -1: any number
  if (uses & CARBON_READS_INPUTS) app.add_option("inputs", options.inputs, "input files");
  app.add_option("-o,--output", options.output, "output file (default: standard output)")->type_name("FILE");
  if (uses & (CARBON_WRITES_RECORDS | CARBON_WRITES_VCF)) {
    app.add_option("-O,--output-type", options.output_type,
                   "u/b: un/compressed BCF, v/z: un/compressed VCF, 0-9: level")
        ->type_name("u|b|v|z[0-9]");
    app.add_flag("--no-version", no_version, "do not write version and command line into the header");
  }
  if (uses & CARBON_READS_RECORDS) add_selection_options(app, options.selection);
  if (uses & CARBON_USES_MODEL) {
    add_common_options(app, common);
  } else {
    if (uses & CARBON_READS_RECORDS) add_progress_option(app, common.progress);
    add_verbosity_options(app);
  }
}

std::string usage_line(const std::string& name, uint32_t uses) {
  return "carbon +" + name + " [options]" +
         (uses & CARBON_READS_MORE      ? " <in.vcf[.gz] | in.bcf | ->..."
          : uses & CARBON_READS_RECORDS ? " <in.vcf[.gz]> | <in.bcf> | -"
          : uses & CARBON_READS_INPUTS  ? " <input>..."
                                        : "") +
         " -- [plugin options]";
}

// An option of the plugin's among carbon's own would be refused in words that do not help. One that both have
// is carbon's, which somebody who writes no -- can hardly mean.
void check_places(const CLI::App& app, char** begin, char** end, bool dashes, const std::string& name,
                  const std::string& usage) {
  for (char** word = begin; word != end; ++word) {
    const std::string option = std::string(*word).substr(0, std::string(*word).find('='));
    const bool theirs = option.starts_with("--") && usage.find("  " + option + " ") != std::string::npos;
    const CLI::Option* own = app.get_option_no_throw(option);
    const std::string place = "it comes after --, as in 'carbon +" + name + " input -- " + option + "'";
    if (theirs && !own) throw Error("plugin", option + " is an option of the plugin: " + place);
    if (theirs && !dashes)
      throw Error("plugin", option + " is an option of the plugin and one of carbon's (" +
                                own->get_name(false, true) + "). For the plugin's, " + place +
                                "; for carbon's, end the line with --");
  }
}

}  // namespace

int cmd_run_plugin(int argc, char** argv) {
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

  CLI::App app(plugin.about);
  PluginRunOptions options;
  CommonOptions common;
  bool no_version = false;
  set_usage(app, usage_line(file.name, plugin.uses));
  const std::string usage = plugin_usage(plugin, file.name);
  app.footer("Plugin options, after --:\n" + usage);
  add_options(app, plugin.uses, options, common, no_version);
  check_places(app, argv + 1, dashes, dashes != end, file.name, usage);
  std::vector<char*> own(argv, dashes);
  own.push_back(nullptr);
  if (const int status = parse_options(app, static_cast<int>(dashes - argv), own.data(), "+" + file.name);
      status >= 0)
    return status;
  if (options.inputs.empty() && (plugin.uses & (CARBON_READS_RECORDS | CARBON_READS_INPUTS))) {
    options.inputs.push_back(default_input(app));
    if (options.inputs.front().empty()) return 1;
  }
  options.name = file.name;
  options.arguments = arguments;
  options.version_lines = !no_version;
  options.command_line = command_line(argc, argv);
  options.model = common.model;
  options.progress = common.progress;
  options.log = &program_log();
  SignalStop stop;
  options.stop = &stop;
  const std::vector<std::string> unmet = run_plugin(plugin, options);
  for (const std::string& text : unmet) program_log().error(options.name, text);
  return unmet.empty() ? 0 : 1;
}

int cmd_plugin(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') {
    std::string name = "+" + std::string(argv[1]);
    std::vector<char*> words(argv + 1, argv + argc);
    words[0] = name.data();
    words.push_back(nullptr);
    return cmd_run_plugin(argc - 1, words.data());
  }
  CLI::App app("List the plugins, or run one: 'carbon plugin NAME' is the same as 'carbon +NAME'");
  bool list = false, verbose = false;
  set_usage(app, "carbon plugin -l [-v]",
            {{"what plugins there are", "carbon plugin -l"}, {"the help of one", "carbon +rank --help"}});
  app.add_flag("-l,--list", list, "list the plugins by directory: name, version and what they do");
  app.add_flag("-v,--verbose", verbose,
               "with -l: also show files, directories without plugins, and hidden plugins");
  if (const int status = parse_options(app, argc, argv, "plugin"); status >= 0) return status;
  if (!list) {
    std::fputs(app.help().c_str(), stderr);
    return 1;
  }
  std::set<std::string> seen;
  for (const std::string& directory : plugin_directories()) list_directory(directory, verbose, seen);
  return 0;
}

}  // namespace carbon
