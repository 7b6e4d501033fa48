// Looks for models in a fixed list of places, in order, and lists them. See registry.hpp.
#include "src/model/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/model/gguf_model.hpp"
#include "src/model/model_files.hpp"

namespace carbon {

namespace {

namespace fs = std::filesystem;

/// A name is one or two plain components (`carbon-tiny`, `ORG/NAME`), so it cannot lead out of the directory
/// in which it is looked up.
bool is_name(const std::string& value) {
  const fs::path path = value;
  if (value.empty() || path.is_absolute() || value.back() == '/') return false;
  if (std::distance(path.begin(), path.end()) > 2) return false;
  return std::none_of(path.begin(), path.end(),
                      [](const fs::path& part) { return part == "." || part == ".."; });
}

/// Looks a name up in a directory of models, where NAME also means NAME.gguf.
ModelAt find_in(const fs::path& dir, const std::string& name) {
  ModelAt model = model_at((dir / name).string());
  if (!model.path.empty()) return model;
  ModelAt file = model_at((dir / (name + ".gguf")).string());
  return model.why.empty() || !file.path.empty() ? file : model;
}

/// Models that somebody may have meant by a name, with and without their organisation.
std::string similar_models(const std::string& value) {
  std::vector<std::string> names;
  for (const ListedModel& model : list_models())
    if (model.why.empty()) names.push_back(printable(model.name));
  return did_you_mean(value, names);
}

/// The repositories of the cache that have a name under some organisation.
std::string with_organisation(const fs::path& hub, const std::string& value) {
  std::string list;
  for (const fs::path& entry : entries_of(hub)) {
    const std::string name = repository_name(entry);
    if (name.ends_with("/" + value)) list += (list.empty() ? "" : " and ") + printable(name);
  }
  return list;
}

[[noreturn]] void fail(const std::string& value, const std::string& what, Advice advice = {}) {
  throw Error("resolve_model", "model '" + printable(value) + "'" + what, std::move(advice));
}

/// Names the directory of a LoRA adapter that was given as a model.
Advice adapter_advice(const std::string& dir) {
  if (dir.empty()) return {};
  return {"and add the adapter to it with {--lora 0}", {printable(dir)}};
}

std::string find_model(const std::string& value) {
  const ModelAt here = model_at(value);
  if (!here.path.empty()) return here.path;
  if (!is_name(value))
    fail(value,
         ": " + (here.why.empty() ? "there is no config.json and no such file; give a checkpoint directory "
                                    "or a GGUF file"
                                  : here.why),
         adapter_advice(here.adapter));
  std::string searched, reasons, adapter;
  const auto seen = [&](const std::string& path, const ModelAt& model) {
    searched += (searched.empty() ? "" : ", ") + path;
    if (!model.why.empty()) reasons += (reasons.empty() ? "" : "; ") + path + ": " + model.why;
    if (adapter.empty()) adapter = model.adapter;
  };
  seen("./" + value, here);
  for (const ModelPlace& place : model_places()) {
    const ModelAt model = find_in(place.dir, value);
    if (!model.path.empty()) return model.path;
    seen((place.dir / value).string(), model);
  }
  if (value == kBundledModel)
    for (const fs::path& place : bundled_places())
      if (const ModelAt model = model_at(place.string()); !model.path.empty()) return model.path;
  if (const fs::path hub = hub_dir(); !hub.empty()) {
    const fs::path repository = hub_repository(hub, value);
    const ModelAt model = model_of_repository(repository);
    if (!model.path.empty()) return model.path;
    seen(repository.string(), model);
    if (const std::string names = with_organisation(hub, value); !names.empty())
      fail(value, " not found, but the Hugging Face cache has " + names + "; give that name");
  }
  if (!reasons.empty()) fail(value, ": " + reasons, adapter_advice(adapter));
  fail(value,
       " not found (no config.json, no .gguf file) in " + searched + similar_models(value) +
           "; carbon does not download models, so fetch " +
           (std::count(value.begin(), value.end(), '/') == 1
                ? "it first: hf download " + printable(value)
                : "one first (hf download HuggingFaceBio/Carbon-500M), and give its whole name "
                  "(HuggingFaceBio/Carbon-500M)"),
       {"'carbon models' lists those that are there"});
}

/// What lies in a directory of models under the names NAME, and below `group/` ORG/NAME.
void list_place(const ModelPlace& place, const fs::path& dir, const std::string& group,
                std::vector<ListedModel>& list) {
  for (const fs::path& entry : entries_of(dir)) {
    const std::string name = group + entry.filename().string(), path = entry.string();
    const ModelAt model = model_at(path);
    if (!model.path.empty()) {
      // Of a model in several files, the first stands for all.
      if (!is_gguf_model(path) || gguf_first_part(path) == path)
        list.push_back({name, model.path, place.name, ""});
      continue;
    }
    std::error_code ignored;
    if (!fs::is_directory(entry, ignored)) {
      if (entry.extension() == ".gguf") list.push_back({name, path, place.name, model.why});
      continue;
    }
    const std::vector<fs::path> inside = entries_of(entry);
    const bool is_group =
        group.empty() && std::any_of(inside.begin(), inside.end(), [](const fs::path& path) {
          return !model_at(path.string()).path.empty();
        });
    if (is_group) {
      list_place(place, entry, name + "/", list);
    } else {
      list.push_back({name, path, place.name, model.why});
    }
  }
}

}  // namespace

bool is_demonstration_model(const std::string& dir) {
  fs::path path = fs::path(dir).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename() == kBundledModel;
}

std::string resolve_model(const std::string& value, Log& log) {
  std::string found = find_model(value);
  if (is_demonstration_model(found))
    log.warning(
        "resolve_model",
        std::string(kBundledModel) + " is a demonstration model: its scores are not meaningful for variants",
        {"for others, hf download HuggingFaceBio/Carbon-500M and add {-m} HuggingFaceBio/Carbon-500M"});
  return found;
}

bool default_is_bundled() {
  const char* const chosen = std::getenv("CARBON_MODEL");
  return chosen == nullptr || *chosen == '\0';
}

std::string default_model(Log& log) {
  if (!default_is_bundled()) return resolve_model(std::getenv("CARBON_MODEL"), log);
  for (const fs::path& place : bundled_places()) {
    const ModelAt model = model_at(place.string());
    if (model.path.empty()) continue;
    log.warning(
        "default_model",
        "no model was chosen, and CARBON_MODEL is not set: using the bundled " + std::string(kBundledModel) +
            ", a demonstration model whose scores are not meaningful for variants",
        {"for others, hf download HuggingFaceBio/Carbon-500M and add {-m} HuggingFaceBio/Carbon-500M"});
    return model.path;
  }
  throw Error("default_model",
              "no model was chosen, and the bundled " + std::string(kBundledModel) +
                  " is not installed; set CARBON_MODEL to the folder or the name of a model",
              {"or choose one with {-m}"});
}

std::vector<ListedModel> list_models() {
  std::vector<ListedModel> list;
  for (const ModelPlace& place : model_places()) list_place(place, place.dir, "", list);
  for (const fs::path& place : bundled_places()) {
    const ModelAt model = model_at(place.string());
    if (model.path.empty()) continue;
    // Where the program is installed, the bundled model lies in one of the places.
    if (std::none_of(list.begin(), list.end(), [&](const ListedModel& m) { return m.path == model.path; }))
      list.insert(list.begin(), {kBundledModel, model.path, "bundled", ""});
    break;
  }
  if (const fs::path hub = hub_dir(); !hub.empty())
    for (const fs::path& entry : entries_of(hub)) {
      const std::string name = repository_name(entry);
      if (name.empty()) continue;
      const ModelAt model = model_of_repository(entry);
      list.push_back(
          {name, model.path.empty() ? entry.string() : model.path, "Hugging Face cache", model.why});
    }
  return list;
}

}  // namespace carbon
