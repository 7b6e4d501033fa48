// What the metadata of a GGUF file says of a model: its sizes, its rotary embedding, and where the DNA tokens
// lie in its vocabulary. A key with an unknown meaning is an Error, as in config.json.
#pragma once

#include "src/model/config.hpp"
#include "src/model/gguf.hpp"

namespace carbon {

/// Throws Error, which names the file, the key and the value. The head is tied if `file` says nothing else;
/// whether it is shows in the tensors (gguf_model.hpp).
ModelConfig gguf_config(const GgufFile& file);

}  // namespace carbon
