// One door to both kinds of models. See model_files.hpp.
#include "src/model/model_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/model/gguf_config.hpp"
#include "src/model/gguf_model.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

// A directory that holds more is not searched to its end.
constexpr int kMaxEntries = 10'000;

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
  std::error_code problem;
  fs::directory_iterator at(dir, problem);
  for (int i = 0; !problem && at != fs::directory_iterator() && i < kMaxEntries; ++i, at.increment(problem))
    if (std::string name = at->path().filename().string(); !name.starts_with('.'))
      names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
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

}  // namespace carbon
