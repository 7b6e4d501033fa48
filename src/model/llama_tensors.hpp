// The tensors of a Llama or Qwen3 checkpoint by what they do, and the names that Hugging Face gives them,
// which differ by how a model was saved.
//
// Opens no files and computes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/model/config.hpp"

namespace carbon {

class Checkpoint;

inline constexpr const char* kEmbedding = "model.embed_tokens.weight";
inline constexpr const char* kHead = "lm_head.weight";
inline constexpr const char* kScore = "score.weight";  // of a classification head

/// Of an annotator, the heads of both strands.
std::string head_tensor(size_t strand, const char* part);
inline constexpr const char *kHeadMatrix = ".weight", *kHiddenMatrix = ".0.weight", *kHiddenBias = ".0.bias",
                            *kLastMatrix = ".3.weight";  // the last three with a hidden layer

struct TensorShape {
  std::string name;
  std::vector<uint64_t> shape;
};

/// Every tensor that the architecture of `config` reads, as checkpoints name it. With a classification head
/// that is score.weight instead of an output matrix; of an annotator the tensors of its heads.
std::vector<TensorShape> architecture(const ModelConfig& config);

/// One transformer block. Widths: hidden h, query q = heads * head_dim, key and value kv = kv_heads *
/// head_dim, feed-forward ff = intermediate.
struct LayerTensors {
  TensorView attention_norm;  // [1, h]
  TensorView q, k, v;         // [q, h], [kv, h], [kv, h]
  TensorView q_norm, k_norm;  // [1, head_dim] both; none without ModelConfig::head_norm
  TensorView o;               // [h, q]
  TensorView mlp_norm;        // [1, h]
  TensorView gate, up, down;  // [ff, h], [ff, h], [h, ff]
};

struct DecoderTensors {
  TensorView embedding;   // [vocab, h]
  TensorView final_norm;  // [1, h]
  TensorView head;  // [vocab, h]; with a tied head the same memory as `embedding`; none: no output matrix
  std::vector<LayerTensors> layers;
};

/// Views into the memory of `checkpoint`, which must outlive them. Throws Error if a tensor is missing or has
/// a shape that the configuration does not describe.
DecoderTensors decoder_tensors(const Checkpoint& checkpoint);

/// The name of a tensor without the parts that wrappers of a model put into it while it is trained:
/// `_orig_mod.` of torch.compile, `module.` of data-parallel training.
std::string without_wrappers(std::string_view name);
/// The name by which architecture() knows a tensor of a file: without such parts, and
/// with the `model.` that a model saved by AutoModel lacks.
std::string standard_name(std::string_view name);

}  // namespace carbon
