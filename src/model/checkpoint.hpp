// A Hugging Face checkpoint directory: config, and tensors by name from one or several mapped safetensors
// files.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/model/config.hpp"
#include "src/model/safetensors.hpp"

namespace carbon {

struct TensorShape {
  std::string name;
  std::vector<uint64_t> shape;
};

/// Every tensor that the architecture of `config` reads.
std::vector<TensorShape> architecture(const ModelConfig& config);

class Checkpoint {
 public:
  /// Opens DIR: config.json, dna_config.json (optional), model.safetensors or model.safetensors.index.json +
  /// shards. Checks that every tensor of the architecture is present with its shape and a supported dtype
  /// (BF16, F16, F32); lm_head.weight only when the head is untied (a tied checkpoint that carries one is
  /// accepted). Unknown tensors under `model.` or `lm_head.` (biases, q_norm, more layers than the config
  /// says) would change the result and are refused; rotary inv_freq buffers are ignored, anything else is
  /// ignored with a warning.
  /// `rope_scaling` is applied to the configuration (apply_rope_scaling).
  explicit Checkpoint(const std::string& dir, const std::optional<RopeScaling>& rope_scaling = std::nullopt);
  /// The same of tensors that no file holds; `name` is what dir() and id() say.
  Checkpoint(std::string name, const ModelConfig& config, std::unique_ptr<TensorFile> tensors,
             const std::optional<RopeScaling>& rope_scaling);

  const std::string& dir() const { return dir_; }
  const ModelConfig& config() const { return config_; }
  /// The rope scaling (rope_scaling_text) where the caller's is another than that of config.json, else "".
  const std::string& rope_override() const { return rope_override_; }
  /// Last component of the directory, or ORG/NAME for a Hugging Face cache snapshot: for messages and
  /// provenance.
  std::string id() const;

  /// A matrix [rows, cols] (a vector: rows = 1). Throws Error when absent or of another shape.
  TensorView tensor(std::string_view name, size_t rows, size_t cols) const;
  bool has(std::string_view name) const;
  /// The output head [vocab, hidden]: lm_head.weight, or the embedding when tied.
  TensorView head() const;
  TensorView embedding() const;
  /// True if every matrix is BF16: what `--dtype auto` asks.
  bool all_bf16() const;

  /// SHA-256 (hex) over the sorted lines `name dtype [shape] sha256(bytes)` of the tensors the architecture
  /// reads, then config_fingerprint(): the same for one file and for shards. Remembered in
  /// $XDG_CACHE_HOME/carbon by path, inode, size and mtime of the files (a cache that cannot be read or
  /// written is not an error). Safe beside a running decoder; `threads` tensors are hashed at a time.
  std::string sha256(int threads = 1) const;

 private:
  std::string dir_;
  ModelConfig config_;
  std::string rope_override_;
  std::vector<std::unique_ptr<TensorFile>> files_;
  std::map<std::string, size_t, std::less<>> file_of_;  // tensor name -> index into files_

  void apply(const std::optional<RopeScaling>& rope_scaling);
  void open_files();
  void check_tensors() const;
  const TensorInfo* find(std::string_view name) const;
  std::string digest_lines(int threads) const;
};

}  // namespace carbon
