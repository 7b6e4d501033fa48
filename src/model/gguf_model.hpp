// A model in GGUF files: its configuration, and its tensors under the names of Hugging Face checkpoints, with
// the rows of q and k in their order. Computing with the tensors of a file in F32 or BF16 gives the bits that
// the checkpoint gives from which it was converted.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/model/config.hpp"
#include "src/model/gguf.hpp"
#include "src/model/tensor_file.hpp"
#include "tokenizer/bpe_files.hpp"

namespace carbon {

struct GgufModel {
  ModelConfig config;
  /// The later replace tensors of the earlier.
  std::vector<std::unique_ptr<TensorFile>> files;
};

/// as_stored leaves the rows of q and k as they are in the file, for callers that do not compute with them,
/// and reads no weights.
enum class GgufRows { restored, as_stored };

/// What the metadata of a file say of a model: its sizes, its rotary embedding, and where the DNA tokens lie
/// in its vocabulary. A key with an unknown meaning is an Error, as in config.json, which names the file, the
/// key and the value. The head is tied if `file` says nothing else; whether it is shows in the tensors.
ModelConfig gguf_config(const GgufFile& file);

/// Opens a file, or all parts of a model whose file names end in -00001-of-00003.gguf; `path` may be any of
/// them. Throws Error, which names file and tensor, unless all tensors of the architecture are there with
/// their shapes and a type that the program computes with, and no others.
GgufModel open_gguf_model(const std::string& path, GgufRows rows = GgufRows::restored);

/// The file that holds the metadata: `path`, or the first part of a model in several.
std::string gguf_first_part(const std::string& path);

/// The vocabulary of the text outside DNA regions; nothing if the file has none.
std::optional<BpeFiles> gguf_bpe(const GgufFile& file);

}  // namespace carbon
