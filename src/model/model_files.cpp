// One door to both kinds of models, and the places in which they lie. See model_files.hpp.
#include "src/model/model_files.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "src/base/files.hpp"
#include "src/base/installed.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"
#include "src/model/gguf_model.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

// A directory that holds more is not searched to its end.
constexpr int kMaxEntries = 10'000;
constexpr const char* kRepositoryPrefix = "models--";

// The files of models and adapters that are not weights.
constexpr const char* kTexts[] = {"config.json",
                                  "dna_config.json",
                                  "generation_config.json",
                                  "run_config.json",
                                  "tokenizer.json",
                                  "tokenizer_config.json",
                                  "vocab.json",
                                  "vocab.txt",
                                  "merges.txt",
                                  "added_tokens.json",
                                  "special_tokens_map.json",
                                  "adapter_config.json"};

/// The names of the entries that are not hidden, in order.
std::vector<std::string> names_in(const std::string& dir) {
  std::vector<std::string> names;
  for (const fs::path& entry : entries_of(dir)) names.push_back(entry.filename().string());
  return names;
}

/// The models in GGUF files of a directory. The parts of one model count once.
std::set<std::string> gguf_models_in(const std::string& dir) {
  std::set<std::string> models;
  for (const std::string& name : names_in(dir))
    if (name.ends_with(".gguf") && is_gguf_model(dir + "/" + name)) models.insert(gguf_first_part(name));
  return models;
}

/// The model of a GGUF file. If its name says that it is a part of a model, the first part, which describes
/// the others, must be there, too.
ModelAt gguf_model(const std::string& path) {
  const std::string first = gguf_first_part(path);
  if (path_exists(first)) return {path, ""};
  return {"", "the first part of the model, " + printable(first) + ", is missing; incomplete download?"};
}

bool is_adapter(const std::string& dir) {
  return path_exists(dir + "/adapter_config.json");
}

ModelAt model_in(const std::string& dir) {
  const bool config = path_exists(dir + "/config.json");
  const std::string safetensors = dir + "/model.safetensors";
  if (config && (path_exists(safetensors) || path_exists(safetensors + ".index.json"))) return {dir, ""};
  const std::set<std::string> models = gguf_models_in(dir);
  if (models.size() == 1) return gguf_model(dir + "/" + *models.begin());
  if (models.empty() && config && !is_adapter(dir))
    return {dir, ""};  // what it lacks is said when it is opened
  if (!models.empty()) {
    std::string list;
    for (const std::string& name : models) list += (list.empty() ? "" : ", ") + printable(name);
    return {"", "there are several models in GGUF files; name one of them: " + list};
  }
  const std::string other = unread_weights(dir);
  if (is_adapter(dir)) return {"", other, dir};
  return {"", "there is no config.json and no .gguf file" + (other.empty() ? "" : "; " + other)};
}

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

// ORG/NAME of a model in a directory of models, as in the cache; else the name of the file or directory.
std::string name_in_places(const fs::path& path) {
  const fs::path group = path.parent_path();
  for (const ModelPlace& place : model_places()) {
    if (fs::absolute(place.dir).lexically_normal() / group.filename() != group) continue;
    // A GGUF file may lie in a directory NAME, which is then the model and no organisation.
    if (!is_gguf_model(path) || model_at(group).path.empty())
      return (group.filename() / path.filename()).string();
  }
  return path.filename().string();
}

}  // namespace

ModelAt model_at(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return model_in(path);
  if (!path_exists(path)) return {};
  if (path.ends_with(".gguf")) return gguf_model(path);
  return {"", path.ends_with(".safetensors")
                  ? "is one file of a checkpoint; give the directory that holds it and config.json"
                  : "is a file, but its name does not end in .gguf"};
}

std::vector<std::string> files_of_model(const std::string& path) {
  std::error_code ignored;
  const bool is_directory = fs::is_directory(path, ignored);
  const std::string dir = is_directory ? path : fs::path(path).parent_path().string();
  std::vector<std::string> files;
  if (!is_directory && path_exists(path)) files.push_back(path);
  if (files.empty() && !is_directory) return files;
  for (const std::string& name : names_in(dir.empty() ? "." : dir)) {
    const bool weights =
        name.ends_with(".gguf") ||
        (name.ends_with(".safetensors") && (name.starts_with("model") || name.starts_with("adapter")));
    const bool other = std::find(std::begin(kTexts), std::end(kTexts), name) != std::end(kTexts) ||
                       name.ends_with(".safetensors.index.json");
    const std::string file = (fs::path(dir) / name).string();
    if ((weights || other) && file != path) files.push_back(file);
  }
  return files;
}

std::string unread_weights(const std::string& dir) {
  if (is_adapter(dir))
    return "it holds adapter_config.json, so it is a LoRA adapter; give the model that it was trained on";
  for (const std::string& name : names_in(dir))
    for (const char* end : {".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".safetensors"})
      // Shards without their index are an incomplete download, and need no advice.
      if (name.ends_with(end) && name != "training_args.bin" && !name.starts_with("model-0") &&
          name != "model.safetensors")
        return "it holds " + printable(name) +
               ", and weights are read from model.safetensors, its shards with "
               "model.safetensors.index.json, and GGUF files alone: save the model with save_pretrained() of "
               "transformers";
  return "";
}

bool is_gguf_model(const std::string& path) {
  std::error_code ignored;
  return !fs::is_directory(path, ignored) && path_exists(path);
}

ModelConfig load_model_config(const std::string& path) {
  return is_gguf_model(path) ? gguf_config(GgufFile(gguf_first_part(path))) : load_config(path);
}

std::string text_tokenizer_directory(const std::string& path) {
  if (!is_gguf_model(path)) return path;
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::shared_ptr<const Bpe> load_text_tokenizer(const std::string& path) {
  if (is_gguf_model(path))
    if (std::optional<BpeFiles> lists = gguf_bpe(GgufFile(gguf_first_part(path))))
      return std::make_shared<const Bpe>(std::move(*lists));
  const std::string folder = text_tokenizer_directory(path);
  return Bpe::present(folder) ? std::make_shared<const Bpe>(Bpe::load(folder)) : nullptr;
}

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

std::string model_name(const std::string& path_of_model) {
  fs::path path = fs::absolute(path_of_model).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  fs::path snapshots = path.parent_path();
  if (is_gguf_model(path_of_model)) snapshots = snapshots.parent_path();
  const fs::path repository = snapshots.parent_path();
  if (snapshots.filename() == "snapshots" && repository.filename().string().starts_with(kRepositoryPrefix))
    return repository_name(repository);
  return name_in_places(path);
}

}  // namespace carbon
