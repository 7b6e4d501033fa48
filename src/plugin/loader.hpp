// Finds plugins, and loads them with care.
//
// A plugin runs code as soon as it is loaded, so each is first loaded in a child process. If it crashes,
// throws, hangs or has another interface version there, an Error names it and the program goes on.
#pragma once

#include <string>
#include <vector>

#include "plugins/carbon_plugin.h"

namespace carbon {

struct PluginFile {
  std::string name, path;
};

/// What a plugin says of itself.
struct PluginSummary {
  std::string version, about;
};

/// The directories that are searched, in order: those of $CARBON_PLUGINS (separated by colons), `plugins`
/// next to the program (in a build tree), and the installed $(libexecdir)/carbon.
std::vector<std::string> plugin_directories();

/// The plugins in a directory, sorted by name; none if it cannot be read.
std::vector<PluginFile> plugins_in(const std::string& directory);

/// The names of all plugins in plugin_directories(); one that several directories have comes several times.
std::vector<std::string> plugin_names();

/// Returns the first NAME.so in plugin_directories(), or the file itself if `name` has a slash in it. Throws
/// Error, which lists the directories.
PluginFile find_plugin(const std::string& name);

/// Loads the plugin in a child process and returns its description. Call it before the process has threads.
/// Throws Error, which names the plugin, its file and what is wrong with it.
PluginSummary probe_plugin(const PluginFile& file);

/// Probes the plugin, then loads it into this process, where it stays. Throws as probe_plugin() does.
const carbon_plugin& load_plugin(const PluginFile& file);

/// The table of options that a plugin declares; null if it has only a usage text.
const carbon_option* declared_options(const carbon_plugin& plugin);

}  // namespace carbon
