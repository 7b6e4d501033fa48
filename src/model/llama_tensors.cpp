// The names and shapes of the tensors of a decoder. See llama_tensors.hpp.
#include "src/model/llama_tensors.hpp"

#include "src/base/words.hpp"
#include "src/model/checkpoint.hpp"

namespace carbon {
namespace {

struct LayerTensor {
  TensorView LayerTensors::*role;
  const char* name;
  std::vector<uint64_t> shape;
};

/// The tensors of one block.
std::vector<LayerTensor> layer_tensors(const ModelConfig& c) {
  const uint64_t h = c.hidden, q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim, ff = c.intermediate;
  std::vector<LayerTensor> list = {{&LayerTensors::attention_norm, "input_layernorm", {h}},
                                   {&LayerTensors::q, "self_attn.q_proj", {q, h}},
                                   {&LayerTensors::k, "self_attn.k_proj", {kv, h}},
                                   {&LayerTensors::v, "self_attn.v_proj", {kv, h}},
                                   {&LayerTensors::o, "self_attn.o_proj", {h, q}},
                                   {&LayerTensors::mlp_norm, "post_attention_layernorm", {h}},
                                   {&LayerTensors::gate, "mlp.gate_proj", {ff, h}},
                                   {&LayerTensors::up, "mlp.up_proj", {ff, h}},
                                   {&LayerTensors::down, "mlp.down_proj", {h, ff}}};
  if (c.head_norm) {
    list.push_back({&LayerTensors::q_norm, "self_attn.q_norm", {c.head_dim}});
    list.push_back({&LayerTensors::k_norm, "self_attn.k_norm", {c.head_dim}});
  }
  return list;
}

std::string name_in_layer(size_t layer, const char* name) {
  return "model.layers." + std::to_string(layer) + "." + name + ".weight";
}

}  // namespace

std::string head_tensor(size_t strand, const char* part) {
  return "score." + std::to_string(strand) + part;
}

std::vector<TensorShape> architecture(const ModelConfig& c) {
  std::vector<TensorShape> list = {{kEmbedding, {c.vocab, c.hidden}}, {"model.norm.weight", {c.hidden}}};
  for (size_t i = 0; i < c.layers; ++i)
    for (const LayerTensor& tensor : layer_tensors(c))
      list.push_back({name_in_layer(i, tensor.name), tensor.shape});
  if (c.annotator) {
    const uint64_t outputs = c.layout.bases() * AnnotatorConfig::kClasses;
    for (size_t strand = 0; strand < AnnotatorConfig::kStrands; ++strand) {
      if (!c.annotator->hidden_layer) {
        list.push_back({head_tensor(strand, kHeadMatrix), {outputs, c.hidden}});
        continue;
      }
      list.push_back({head_tensor(strand, kHiddenMatrix), {c.hidden, c.hidden}});
      list.push_back({head_tensor(strand, kHiddenBias), {c.hidden}});
      list.push_back({head_tensor(strand, kLastMatrix), {outputs, c.hidden}});
    }
  } else if (c.classifier)
    list.push_back({kScore, {c.classifier->labels.size(), c.hidden}});
  else if (!c.tied_head)
    list.push_back({kHead, {c.vocab, c.hidden}});
  return list;
}

DecoderTensors decoder_tensors(const Checkpoint& checkpoint) {
  const ModelConfig& c = checkpoint.config();
  DecoderTensors tensors;
  tensors.embedding = checkpoint.embedding();
  tensors.final_norm = checkpoint.tensor("model.norm.weight", 1, c.hidden);
  if (c.has_output_matrix()) tensors.head = checkpoint.head();
  tensors.layers.resize(c.layers);
  for (size_t i = 0; i < c.layers; ++i)
    for (const LayerTensor& tensor : layer_tensors(c)) {
      const size_t rows = tensor.shape.size() == 1 ? 1 : tensor.shape.front();
      tensors.layers[i].*tensor.role =
          checkpoint.tensor(name_in_layer(i, tensor.name), rows, tensor.shape.back());
    }
  return tensors;
}

std::string without_wrappers(std::string_view name) {
  std::vector<std::string_view> parts = split(name, '.');
  std::erase_if(parts, [](std::string_view part) { return part == "_orig_mod" || part == "module"; });
  return joined(parts, ".");
}

std::string standard_name(std::string_view name) {
  std::string plain = without_wrappers(name);
  for (const std::string_view part : {"embed_tokens.", "layers.", "norm."})
    if (plain.starts_with(part)) return "model." + plain;
  return plain;
}

}  // namespace carbon
