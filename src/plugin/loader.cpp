#include "src/plugin/loader.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "src/base/error.hpp"
#include "src/base/installed.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/system.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEntry = "carbon_plugin_entry";
constexpr unsigned kProbeSeconds = 20;  // loading takes milliseconds, or seconds from a slow network disk
constexpr uint32_t kKnownUses = CARBON_USES_MODEL | CARBON_READS_RECORDS | CARBON_WRITES_RECORDS |
                                CARBON_READS_INPUTS | CARBON_WRITES_VCF | CARBON_READS_MORE |
                                CARBON_LACKS_INPUTS | CARBON_DECLARES_OPTIONS;

// The directory of installed plugins also has the program's libraries, such as carbon-cuda.so.
bool is_plugin_name(const std::string& name) {
  return !name.empty() && !name.starts_with("carbon-") &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
             std::string::npos;
}

[[noreturn]] void refuse(const PluginFile& file, const std::string& what) {
  throw Error("plugin", "+" + file.name + " (" + file.path + ") " + what);
}

// Returns what is wrong with the options that a plugin declares, or "".
std::string option_defect(const carbon_option* options) {
  if (!options) return "is incomplete: it declares options, but its `options` is null";
  std::set<std::string> names = {"help", "h"};  // those of the program
  for (const carbon_option* option = options; option->name; ++option) {
    const std::string name = option->name, letter(option->letter ? 1 : 0, option->letter);
    const bool has_name =
        name.size() > 1 && name[0] != '-' &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    const bool has_letter = letter.empty() || (is_ascii_letter(letter[0]) && names.insert(letter).second);
    if (!has_name || !has_letter || !names.insert(name).second || !option->help)
      return "declares the option --" + printable(name) +
             ", whose name or letter is not one or is taken, or " + "whose help is null";
    for (const char* bound : {option->least, option->most}) {
      double number = 0;
      if (bound && !parse_number(bound, number))
        return "declares the option --" + name + " with a bound that is not a number";
    }
  }
  return "";
}

// Returns what is wrong with the description that a plugin's entry returned, or "" if it is right. Other
// members may be read only after `abi` is found to be right.
std::string defect(const carbon_plugin* plugin) {
  if (!plugin) return "does not describe itself: its " + std::string(kEntry) + "() returned null";
  if (plugin->abi != CARBON_PLUGIN_ABI)
    return "has plugin interface version " + std::to_string(plugin->abi) + ", this carbon has " +
           std::to_string(CARBON_PLUGIN_ABI) + "; compile it with this carbon's carbon_plugin.h";
  if (plugin->size < sizeof(carbon_plugin)) return "is incomplete: its `size` is not sizeof(carbon_plugin)";
  if (!plugin->version || !plugin->about || !plugin->usage || !plugin->init || !plugin->finish)
    return "is incomplete: version, about, usage, init and finish must not be null";
  if (plugin->uses & ~kKnownUses) return "uses functions that this carbon lacks; it needs a newer one";
  const bool reads = plugin->uses & CARBON_READS_RECORDS;
  if (reads != (plugin->process != nullptr) ||
      (!reads && (plugin->uses & (CARBON_WRITES_RECORDS | CARBON_READS_MORE))) ||
      (reads && (plugin->uses & CARBON_READS_INPUTS)) ||
      ((plugin->uses & CARBON_LACKS_INPUTS) && !(plugin->uses & CARBON_READS_INPUTS)) ||
      ((plugin->uses & CARBON_WRITES_RECORDS) && (plugin->uses & CARBON_WRITES_VCF)))
    return "contradicts itself: `process` and CARBON_READS_RECORDS must be given together, "
           "CARBON_WRITES_RECORDS and CARBON_READS_MORE need them, CARBON_READS_INPUTS excludes them, "
           "CARBON_LACKS_INPUTS needs CARBON_READS_INPUTS, and CARBON_WRITES_VCF excludes "
           "CARBON_WRITES_RECORDS";
  return plugin->uses & CARBON_DECLARES_OPTIONS ? option_defect(declared_options(*plugin)) : "";
}

// Loads the plugin into this process and asks for its description. Exceptions of the plugin pass through.
const carbon_plugin& open_plugin(const PluginFile& file) {
  // A library that was built with -ffast-math makes the thread that loads it take subnormal numbers for zero.
  const OwnEnvironment own;
  void* library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* reason = dlerror();
    refuse(file, std::string("cannot be loaded: ") + (reason ? reason : "unknown error"));
  }
  const auto entry = reinterpret_cast<carbon_plugin_entry_function*>(dlsym(library, kEntry));
  if (!entry) refuse(file, "is not a carbon plugin: it does not export " + std::string(kEntry) + "()");
  const carbon_plugin* plugin = entry();
  if (const std::string wrong = defect(plugin); !wrong.empty()) refuse(file, wrong);
  return *plugin;
}

// Returns the child's report, text fields that end in NUL: "+", version and about, or "-" and what is wrong.
std::string examine(const PluginFile& file) {
  const auto field = [](const std::string& text) { return text + '\0'; };
  try {
    const carbon_plugin& plugin = open_plugin(file);
    return field("+") + field(plugin.version) + field(plugin.about);
  } catch (const Error& error) {
    return field("-") + field(error.what());
  } catch (const std::exception& error) {
    return field("-") + field("+" + file.name + " (" + file.path +
                              ") throws an exception while it is loaded: " + printable(error.what()));
  } catch (...) {
    return field("-") + field("+" + file.name + " (" + file.path + ") throws while it is loaded");
  }
}

// In a child process: loads the plugin and writes the report. Whatever the plugin does here ends with the
// process, and what it prints is dropped.
void write_report(const PluginFile& file, int report) {
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  const std::string said = examine(file);
  for (size_t done = 0; done < said.size();) {
    const ssize_t count = write(report, said.data() + done, said.size() - done);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
}

}  // namespace

std::vector<std::string> plugin_directories() {
  std::vector<std::string> directories;
  const char* listed = std::getenv("CARBON_PLUGINS");
  for (const std::string_view entry : split(listed ? listed : "", ':'))
    if (!entry.empty()) directories.emplace_back(entry);
  if (!program_folder().empty()) directories.push_back(program_folder() + "/plugins");
  for (const std::string& installed : installed_library_directories()) directories.push_back(installed);
  return directories;
}

std::vector<PluginFile> plugins_in(const std::string& directory) {
  std::vector<PluginFile> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".so" && is_plugin_name(name))
      found.push_back({name, entry.path().string()});
  }
  std::sort(found.begin(), found.end(),
            [](const PluginFile& a, const PluginFile& b) { return a.name < b.name; });
  return found;
}

std::vector<std::string> plugin_names() {
  std::vector<std::string> names;
  for (const std::string& directory : plugin_directories())
    for (const PluginFile& file : plugins_in(directory)) names.push_back(file.name);
  return names;
}

PluginFile find_plugin(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    if (!fs::exists(name, ignored)) throw Error("plugin", "+" + printable(name) + ": no such file");
    return {fs::path(name).stem().string(), name};
  }
  if (!is_plugin_name(name))
    throw Error("plugin",
                "'+" + printable(name) +
                    "' is not the name of a plugin: expected letters, digits, - and _, and not carbon- "
                    "at the beginning");
  std::string searched;
  for (const std::string& directory : plugin_directories()) {
    const fs::path path = fs::path(directory) / (name + ".so");
    if (fs::exists(path, ignored)) return {name, path.string()};
    searched += (searched.empty() ? "" : ", ") + directory;
  }
  throw Error("plugin",
              "there is no " + name + ".so in " + searched + did_you_mean(name, plugin_names()) +
                  "; if it is elsewhere, add its directory to CARBON_PLUGINS",
              {"'carbon plugin -l' lists the plugins"});
}

PluginSummary probe_plugin(const PluginFile& file) {
  const auto [said, status] = run_in_child("plugin", kProbeSeconds, std::string::npos,
                                           [&](int report) { write_report(file, report); });
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    refuse(file, "has not finished loading after " + std::to_string(kProbeSeconds) + " seconds");
  if (WIFSIGNALED(status))
    refuse(file, "crashes while it is loaded (signal " + std::to_string(WTERMSIG(status)) + ", " +
                     strsignal(WTERMSIG(status)) + ")");
  if (said.empty()) refuse(file, "ends the process while it is loaded");
  // Each field ends in NUL, and so the last part is empty.
  const std::vector<std::string_view> fields = split(said, '\0');
  if (fields.size() == 3 && fields[0] == "-") throw Error("plugin", std::string(fields[1]));
  if (fields.size() != 4) refuse(file, "ends the process while it is loaded");
  return {printable(fields[1]), printable(fields[2])};
}

const carbon_option* declared_options(const carbon_plugin& plugin) {
  if (!(plugin.uses & CARBON_DECLARES_OPTIONS)) return nullptr;
  return reinterpret_cast<const carbon_declared_plugin*>(&plugin)->options;
}

const carbon_plugin& load_plugin(const PluginFile& file) {
  probe_plugin(file);
  return open_plugin(file);
}

}  // namespace carbon
