// What a model is in files, a checkpoint directory or a GGUF file; and where models lie: directories of
// models, and the Hugging Face cache.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/model/config.hpp"
#include "tokenizer/bpe.hpp"

namespace carbon {

/// The path of the model that lies at `path`: a checkpoint directory itself, a GGUF file itself, and for a
/// directory with one model in GGUF files its first file. A directory with config.json and safetensors files
/// is a checkpoint, whatever else it holds.
struct ModelAt {
  std::string path;  // empty if there is no model
  std::string why;   // then: what is wrong with `path`, without naming it; empty if nothing lies there
  std::string adapter = {};  // the directory, if it is a LoRA adapter and not a model
};
ModelAt model_at(const std::string& path);

/// The files from which a model, or an adapter, at `path` is read, those that lie there: of a directory, and
/// of that of a GGUF file. None if nothing lies there.
std::vector<std::string> files_of_model(const std::string& path);

/// Why a directory without weights that this program reads has none, in a message that says what to do: it is
/// a LoRA adapter, or it holds other weights, such as pytorch_model.bin. Empty if the directory has neither.
std::string unread_weights(const std::string& dir);

/// True for a path that is no directory: a model that is one file is a GGUF file. This function and those
/// below take the path of a model, as resolve_model() returns it.
bool is_gguf_model(const std::string& path);

/// The configuration of a model whose tensors are not needed. Throws Error.
ModelConfig load_model_config(const std::string& path);

/// The tokenizer of text outside DNA regions: of a directory its files, of a GGUF file the lists in its
/// metadata or else the files beside it. Null if there is none. Throws Error for a damaged one.
std::shared_ptr<const Bpe> load_text_tokenizer(const std::string& path);
/// The directory in which load_text_tokenizer() looks for files.
std::string text_tokenizer_directory(const std::string& path);

inline constexpr const char* kBundledModel = "carbon-tiny";

/// A directory with models.
struct ModelPlace {
  std::string name;  // for lists: "CARBON_MODEL_PATH", "user" or "installed"
  std::filesystem::path dir;
};

/// The directories in which names are looked up, in order.
std::vector<ModelPlace> model_places();
/// Where the bundled model may be, in order: beside the program, as in a build tree, and installed.
std::vector<std::filesystem::path> bundled_places();

/// The hub directory of the Hugging Face cache, where huggingface_hub has it: $HF_HUB_CACHE, else
/// $HUGGINGFACE_HUB_CACHE, else the directory hub in $HF_HOME, else in $XDG_CACHE_HOME/huggingface or
/// ~/.cache/huggingface. "~", "~USER", "$NAME" and "${NAME}" in these values are expanded.
std::filesystem::path hub_dir();
/// The directory of ORG/NAME in it.
std::filesystem::path hub_repository(const std::filesystem::path& hub, std::string name);
/// ORG/NAME of such a directory; empty for another.
std::string repository_name(const std::filesystem::path& repository);
/// The model of a repository in the cache.
ModelAt model_of_repository(const std::filesystem::path& repository);

/// The entries of a directory that are not hidden, in order; of one with very many, the first that the system
/// returns.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& dir);

/// The name of a model, as its path says it: the last component, or ORG/NAME of a snapshot in the Hugging
/// Face cache and of a model in a directory of models.
std::string model_name(const std::string& path);

}  // namespace carbon
