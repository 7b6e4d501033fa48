// A LoRA adapter in the form that PEFT saves: small matrices A and B for some weights W of a model, which
// become W + scale * B A (Hu et al. 2021; docs/model.md, "Adapters").
//
// The sum is made once, when a model is loaded, so that nothing else has to know of adapters. What an adapter
// could also contain but is not added to weights (DoRA, biases, replicated layers, ...) is an Error.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "src/model/safetensors.hpp"
#include "src/model/tensor_file.hpp"

namespace carbon {

class Checkpoint;

/// What an adapter does to one tensor of the model.
struct LoraChange {
  /// The tensors of the adapter: A [r, inputs] and B [outputs, r], or for an embedding A [r, vocabulary] and
  /// B [hidden, r], whose product is transposed. Both empty if `whole` replaces the tensor.
  std::string a, b;
  bool transposed = false;
  std::string whole;
  /// A copy of the model's tensor, as PEFT saves it beside the pair of an embedding or a head. Changes
  /// nothing.
  std::string copy;
  double scale = 0;  // alpha / r, or alpha / sqrt(r) with rank stabilisation
};

class LoraAdapter {
 public:
  /// Reads adapter_config.json and maps adapter_model.safetensors in the directory `dir`. Throws Error, which
  /// names file and key or tensor, for another kind of adapter than LoRA, and for a key or a tensor whose
  /// meaning is not known.
  explicit LoraAdapter(const std::string& dir);

  const std::string& dir() const { return dir_; }
  /// The name in headers of outputs: the last component of the directory.
  std::string id() const;

  /// A tensor of the model that the adapter has as a whole; null if there is none.
  const TensorInfo* whole(const std::string& tensor) const;

  /// What the adapter does to the tensors in `merged`, for the digest of the model: sorted lines `adapter
  /// tensor dtype [shape] sha256(bytes)`, and `adapter tensor scale` for those that have one.
  std::string digest_lines(const TensorFile& merged) const;

  /// The tensors of `base` that the adapter changes, with their names and shapes, as bf16 or f32;
  /// score.weight as a whole keeps its numbers, and `base` need not have it in its files, but its labels.
  /// W + scale * B A is computed in f32, with the terms of B A in ascending
  /// order, and rounded once. Throws Error for a tensor that the model does not have, for shapes that do not
  /// fit, for a copy of a tensor that differs from the model's, and for changes of an embedding that is also
  /// the head, because it is not defined which of the two they mean.
  std::unique_ptr<TensorFile> merge(const Checkpoint& base, WeightType type, int threads) const;

 private:
  std::string dir_;
  SafetensorsFile tensors_;
  std::map<std::string, LoraChange> changes_;  // by the name of the model's tensor
};

}  // namespace carbon
