// Looks for models in a fixed list of places, in order. See registry.hpp.
#include "src/model/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/installed.hpp"
#include "src/base/json.hpp"

namespace carbon {

namespace {

namespace fs = std::filesystem;

constexpr const char* kBundledModel = "carbon-tiny";

/// Value of an environment variable; empty if unset.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// A directory by the XDG rules: the value of the variable if that is an absolute path, or $HOME/otherwise;
/// empty without HOME.
fs::path xdg_dir(const char* variable, const char* otherwise) {
  fs::path set = environment(variable);
  if (set.is_absolute()) return set;
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / otherwise;
}

bool is_checkpoint(const fs::path& dir) {
  std::error_code ignored;
  return fs::is_directory(dir, ignored) && fs::exists(dir / "config.json", ignored);
}

/// A name is one or two plain components (`carbon-tiny`, `ORG/NAME`), so it cannot lead out of the directory
/// in which it is looked up.
bool is_name(const std::string& value) {
  const fs::path path = value;
  if (value.empty() || path.is_absolute() || value.back() == '/') return false;
  if (std::distance(path.begin(), path.end()) > 2) return false;
  return std::none_of(path.begin(), path.end(),
                      [](const fs::path& part) { return part == "." || part == ".."; });
}

std::vector<fs::path> model_dirs() {
  std::vector<fs::path> dirs;
  std::stringstream list(environment("CARBON_MODEL_PATH"));
  for (std::string entry; std::getline(list, entry, ':');) {
    if (!entry.empty()) dirs.emplace_back(entry);
  }
  if (const fs::path data = xdg_dir("XDG_DATA_HOME", ".local/share"); !data.empty()) {
    dirs.push_back(data / "carbon" / "models");
  }
  for (const fs::path data : installed_data_directories()) dirs.push_back(data / "carbon" / "models");
  return dirs;
}

/// The hub directory of the Hugging Face cache; empty if the environment does not say where it is.
fs::path hub_dir() {
  if (const std::string hub = environment("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  const fs::path cache = xdg_dir("XDG_CACHE_HOME", ".cache");
  return cache.empty() ? fs::path() : cache / "huggingface" / "hub";
}

fs::path hub_repository(const fs::path& hub, std::string name) {
  if (const size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  return hub / ("models--" + name);
}

/// The commit that refs/main names; empty if there is no such file or its text is not a plain name.
std::string main_revision(const fs::path& repository) {
  std::ifstream in(repository / "refs" / "main");
  std::string revision;
  in >> revision;
  const bool plain = revision != "." && revision != ".." && revision.find('/') == std::string::npos;
  return plain ? revision : std::string();
}

/// The snapshot to use from a repository in the cache; empty if it has none.
fs::path find_snapshot(const fs::path& repository) {
  const fs::path snapshots = repository / "snapshots";
  std::error_code ignored;
  if (const std::string revision = main_revision(repository); !revision.empty()) {
    fs::path snapshot = snapshots / revision;
    if (is_checkpoint(snapshot)) return snapshot;
    if (fs::is_directory(snapshot, ignored)) {
      throw Error(
          "resolve_model",
          snapshot.string() + ": the snapshot of refs/main has no config.json; run hf download again");
    }
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(snapshots, ignored)) {
    if (is_checkpoint(entry.path())) found.push_back(entry.path().string());
  }
  if (found.empty()) return {};
  if (found.size() == 1) return found[0];
  std::sort(found.begin(), found.end());
  std::string list;
  for (const std::string& path : found) list += " " + path;
  throw Error("resolve_model",
              repository.string() + ": several snapshots, and no refs/main that chooses one of:" + list,
              {"model"});
}

std::string find_model(const std::string& value) {
  if (is_checkpoint(value)) return value;
  if (!is_name(value)) {
    throw Error("resolve_model",
                "model '" + printable(value) + "': there is no config.json; give a checkpoint directory");
  }
  std::string searched = "./" + value;
  for (const fs::path& dir : model_dirs()) {
    if (is_checkpoint(dir / value)) return (dir / value).string();
    searched += ", " + (dir / value).string();
  }
  if (const fs::path hub = hub_dir(); !hub.empty()) {
    const fs::path repository = hub_repository(hub, value);
    if (const fs::path snapshot = find_snapshot(repository); !snapshot.empty()) return snapshot.string();
    searched += ", " + repository.string();
  }
  throw Error("resolve_model", "model '" + printable(value) + "' not found (no config.json) in " + searched +
                                   "; carbon downloads nothing, so fetch the model first");
}

}  // namespace

std::string resolve_model(const std::string& value, Log& log) {
  std::string found = find_model(value);
  fs::path path = fs::path(found).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.filename() == kBundledModel) {
    log.warning("resolve_model",
                std::string(kBundledModel) + " is a demonstration model: small, trained on a few genomes");
  }
  return found;
}

std::string default_model(Log& log) {
  if (const std::string chosen = environment("CARBON_MODEL"); !chosen.empty())
    return resolve_model(chosen, log);
  std::vector<fs::path> places;
  std::error_code ignored;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", ignored); !program.empty()) {
    const fs::path beside = program.parent_path();
    places.push_back(beside / "models" / kBundledModel);
    places.push_back(beside.parent_path() / "models" / kBundledModel);
  }
  for (const fs::path data : installed_data_directories())
    places.push_back(data / "carbon" / "models" / kBundledModel);
  for (const fs::path& place : places) {
    if (!is_checkpoint(place)) continue;
    log.warning("default_model", "no model was chosen, and CARBON_MODEL is not set: using the bundled " +
                                     std::string(kBundledModel) + ", a demonstration model");
    return place.string();
  }
  throw Error("default_model",
              "no model was chosen, and the bundled " + std::string(kBundledModel) + " is not installed",
              {"model"});
}

}  // namespace carbon
