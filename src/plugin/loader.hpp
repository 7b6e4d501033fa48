// Where plugins are found, and how one is loaded without trusting it.
//
// A plugin runs code as soon as it is loaded, so each is first loaded in a child process: one that crashes,
// throws, hangs or has another interface version ends there, and is reported by its name.
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

/// The directories of $CARBON_PLUGINS (colon list), `plugins` beside the program (a build tree) and the
/// installed
/// $(libexecdir)/carbon, in the order they are searched.
std::vector<std::string> plugin_directories();

/// The plugins of a directory by name; none if it cannot be read.
std::vector<PluginFile> plugins_in(const std::string& directory);

/// The first NAME.so of plugin_directories(), or the file itself if `name` holds a slash. Throws Error
/// listing the directories.
PluginFile find_plugin(const std::string& name);

/// Loads the plugin in a child process and asks it what it is. Call it before the process has threads. Throws
/// Error naming the plugin, its file and what is wrong with it.
PluginSummary probe_plugin(const PluginFile& file);

/// Probes the plugin, then loads it into this process, where it stays. Throws as probe_plugin() does.
const carbon_plugin& load_plugin(const PluginFile& file);

}  // namespace carbon
