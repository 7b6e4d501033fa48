// Places from the environment, and the snapshots of the Hugging Face cache. See model_places.hpp.
#include "src/model/model_places.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>

#include "src/base/installed.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/lists.hpp"
#include "src/base/program_folder.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxEntries = 10'000;
constexpr const char* kRepositoryPrefix = "models--";

/// Value of an environment variable; empty if unset.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool is_name_letter(char c) {
  return is_letter_or_digit(c) || c == '_';
}

/// The home directory of a user, of this one for an empty name; nothing if there is no such user.
std::optional<std::string> home_of(const std::string& user) {
  const char* const home = user.empty() ? std::getenv("HOME") : nullptr;
  if (home != nullptr) return home;
  const passwd* const entry = user.empty() ? ::getpwuid(::getuid()) : ::getpwnam(user.c_str());
  if (entry == nullptr || entry->pw_dir == nullptr) return std::nullopt;
  return entry->pw_dir;
}

/// The path with the home directory in the place of ~ or ~USER at its beginning.
std::string expand_user(const std::string& path) {
  if (!path.starts_with('~')) return path;
  const size_t end = std::min(path.find('/'), path.size());
  std::optional<std::string> home = home_of(path.substr(1, end - 1));
  if (!home) return path;
  while (home->ends_with('/')) home->pop_back();
  const std::string expanded = *home + path.substr(end);
  return expanded.empty() ? "/" : expanded;
}

/// The path with the values of $NAME and ${NAME}. Variables that are not set stay as they are.
std::string expand_variables(const std::string& path) {
  std::string expanded;
  for (size_t at = 0; at < path.size();) {
    size_t end = at + 1;
    std::string name;
    if (path[at] == '$' && path.compare(at, 2, "${") == 0 && path.find('}', at) != path.npos) {
      end = path.find('}', at) + 1;
      name = path.substr(at + 2, end - at - 3);
    } else if (path[at] == '$') {
      while (end < path.size() && is_name_letter(path[end])) ++end;
      name = path.substr(at + 1, end - at - 1);
    }
    const char* const value = name.empty() ? nullptr : std::getenv(name.c_str());
    expanded += value ? value : path.substr(at, end - at);
    at = end;
  }
  return expanded;
}

/// A directory that an environment variable names, or `otherwise`. Both are expanded as huggingface_hub does.
std::string hub_variable(const char* name, const std::string& otherwise) {
  const std::string value = environment(name);
  return expand_variables(expand_user(value.empty() ? otherwise : value));
}

/// A directory by the XDG rules: the value of the variable if that is an absolute path, or $HOME/otherwise;
/// empty without HOME.
fs::path xdg_dir(const char* variable, const char* otherwise) {
  fs::path set = environment(variable);
  if (set.is_absolute()) return set;
  const fs::path home = environment("HOME");
  return home.empty() ? fs::path() : home / otherwise;
}

/// The text of refs/main: nothing without such a file.
std::optional<std::string> main_reference(const fs::path& repository) {
  std::error_code ignored;
  const fs::path file = repository / "refs" / "main";
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream in(file);
  std::string revision(256, '\0');
  in.read(revision.data(), static_cast<std::streamsize>(revision.size()));
  revision.resize(static_cast<size_t>(in.gcount()));
  return revision.substr(0, revision.find_first_of(" \t\r\n"));
}

bool is_plain_name(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos;
}

}  // namespace

std::vector<ModelPlace> model_places() {
  std::vector<ModelPlace> places;
  const std::string list = environment("CARBON_MODEL_PATH");
  for (const std::string_view entry : split(list, ':'))
    if (!entry.empty()) places.push_back({"CARBON_MODEL_PATH", entry});
  if (const fs::path data = xdg_dir("XDG_DATA_HOME", ".local/share"); !data.empty())
    places.push_back({"user", data / "carbon" / "models"});
  for (const fs::path data : installed_data_directories())
    places.push_back({"installed", data / "carbon" / "models"});
  return places;
}

std::vector<fs::path> bundled_places() {
  std::vector<fs::path> places;
  if (const fs::path beside = program_folder(); !beside.empty()) {
    places.push_back(beside / "models" / kBundledModel);
    places.push_back(beside.parent_path() / "models" / kBundledModel);
  }
  for (const fs::path data : installed_data_directories())
    places.push_back(data / "carbon" / "models" / kBundledModel);
  return places;
}

fs::path hub_dir() {
  // As constants.py of huggingface_hub, which takes relative paths and gives each of these to the next.
  const std::string cache = environment("XDG_CACHE_HOME");
  const std::string home = hub_variable("HF_HOME", (cache.empty() ? "~/.cache" : cache) + "/huggingface");
  return hub_variable("HF_HUB_CACHE", hub_variable("HUGGINGFACE_HUB_CACHE", home + "/hub"));
}

fs::path hub_repository(const fs::path& hub, std::string name) {
  if (const size_t slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "--");
  return hub / (kRepositoryPrefix + name);
}

std::string repository_name(const fs::path& repository) {
  std::string name = repository.filename().string();
  const std::string prefix = kRepositoryPrefix;
  if (!name.starts_with(prefix)) return "";
  name.erase(0, prefix.size());
  if (const size_t at = name.find("--"); at != std::string::npos) name.replace(at, 2, "/");
  return name;
}

std::vector<fs::path> entries_of(const fs::path& dir) {
  std::vector<fs::path> entries;
  std::error_code problem;
  fs::directory_iterator at(dir, problem);
  for (int i = 0; !problem && at != fs::directory_iterator() && i < kMaxEntries; ++i, at.increment(problem))
    if (!at->path().filename().string().starts_with('.')) entries.push_back(at->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

ModelAt model_of_repository(const fs::path& repository) {
  const fs::path snapshots = repository / "snapshots";
  const std::optional<std::string> revision = main_reference(repository);
  std::error_code ignored;
  if (revision && is_plain_name(*revision) && fs::is_directory(snapshots / *revision, ignored)) {
    ModelAt model = model_at((snapshots / *revision).string());
    if (model.path.empty() && model.adapter.empty())
      model.why = "the snapshot that refs/main names, " + *revision + ", is not complete: " + model.why +
                  "; run hf download again";
    return model;
  }
  std::vector<ModelAt> found;
  std::string list, why, adapter;
  for (const fs::path& entry : entries_of(snapshots)) {
    ModelAt model = model_at(entry.string());
    if (model.path.empty()) {
      why = ": " + model.why;
      adapter = model.adapter;
      continue;
    }
    list += " " + entry.string();
    found.push_back(std::move(model));
  }
  if (found.empty())
    return {"", fs::is_directory(repository, ignored) ? "no snapshot is a model" + why : std::string(),
            adapter};
  if (revision)
    return {"", "refs/main names the snapshot '" + printable(*revision) +
                    "', which is not there; run hf download again, or give the path of a snapshot:" + list};
  if (found.size() > 1)
    return {"", "several snapshots, and no refs/main that chooses one; give the path of a snapshot:" + list};
  return found.front();
}

}  // namespace carbon
