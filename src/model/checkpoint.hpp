// src/model/: models in files: a name or a path comes in, and a checkpoint goes out that is checked as a
// whole before anything is computed with it. Its tensors come from safetensors or GGUF files, and adapters
// may be merged into them.
//
// A Checkpoint is a model: its configuration, and its tensors by name from one or several memory-mapped
// files. They are the safetensors files of a Hugging Face checkpoint directory, or GGUF files.
//
// Views of the files: no tensor is converted, and only the queries and keys of GGUF files and tensors that
// are not aligned are copied. What each tensor does is in llama_tensors.hpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/log.hpp"
#include "src/model/config.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/tensor_file.hpp"

namespace carbon {

class LoraAdapter;

/// as_stored leaves tensors that are not aligned where they are, for callers that do not compute with them.
enum class Alignment { restored, as_stored };

class Checkpoint {
 public:
  /// Opens a directory: config.json, dna_config.json if present, and model.safetensors or
  /// model.safetensors.index.json with its shards. Or a GGUF file (gguf_model.hpp). `rope_scaling` is applied
  /// to the configuration (apply_rope_scaling).
  ///
  /// Throws Error unless every tensor of the architecture is present with its shape and a supported type
  /// (kWeightTypes). With a tied head, lm_head.weight and the embedding may each stand for both. If both are
  /// there and differ, the head counts as untied, with a warning, as in transformers.
  /// With a classification head score.weight has the labels, and there is no output matrix. An annotator has
  /// a head for each strand. Other tensors under `model.`, `lm_head.` or `score.` (biases, more layers than
  /// config.json says, the norms of heads in a Llama) would change the result, so they are refused, except
  /// rotary inv_freq buffers and those of a head that the architecture does not have. All other tensors are
  /// ignored with a warning.
  explicit Checkpoint(const std::string& path, const std::optional<RopeScaling>& rope_scaling = std::nullopt,
                      Log& log = silent_log(), Alignment alignment = Alignment::restored);
  /// The same for tensors that are not in files. dir() and id() return `name`.
  Checkpoint(std::string name, const ModelConfig& config, std::unique_ptr<TensorFile> tensors,
             const std::optional<RopeScaling>& rope_scaling, Log& log = silent_log());

  /// Puts tensors in the place of those with the same names, which are then no longer read. Throws Error,
  /// and leaves the checkpoint unfit for use, unless each replaces one that is there, with the shape that the
  /// architecture requires and a supported type. Must not be called after a view was taken.
  void replace(std::unique_ptr<TensorFile> tensors);

  /// Adds the adapter's weights, as `type`, which is bf16 or f32, to those of the model. With an adapter that
  /// holds score.weight, a causal model becomes one with a classification head. Throws Error if they do not
  /// fit. Must not be called after a view was taken, or twice.
  void add_adapter(const LoraAdapter& adapter, WeightType type, int threads = 1);

  /// Puts metadata, with these ids, beside every sequence that config() lays out. Throws Error if it leaves
  /// no room in the model's context for a 6-mer.
  void set_metadata(const std::string& text, std::vector<uint32_t> ids);

  /// The directory, or the GGUF file.
  const std::string& dir() const { return dir_; }
  const ModelConfig& config() const { return config_; }
  /// The rope scaling that the caller asked for, as rope_scaling_text() writes it, if it differs from that of
  /// config.json; otherwise "".
  const std::string& rope_override() const { return rope_override_; }
  /// The text of the metadata beside every sequence, as it was given; "" for none.
  const std::string& metadata() const { return metadata_; }
  /// The name of the model in messages and in headers of outputs: the last component of dir(), or ORG/NAME
  /// for a snapshot in the Hugging Face cache. With an adapter, "+" and its name follow.
  std::string id() const;

  /// A matrix [rows, cols], or a vector of cols with rows = 1. Throws Error if there is no such tensor or it
  /// has another shape.
  TensorView tensor(std::string_view name, size_t rows, size_t cols) const;
  bool has(std::string_view name) const;
  /// What the files say of a tensor, or null.
  const TensorInfo* find(std::string_view name) const;
  /// Bytes of all files with tensors.
  uint64_t file_bytes() const;
  /// The output head [vocab, hidden]: lm_head.weight, or the embedding if the head is tied. Throws Error for
  /// a model without one.
  TensorView head() const;
  /// score.weight [labels, hidden], of a model with a classification head, in the type in which it is stored.
  TensorView score() const;
  TensorView embedding() const;
  /// True if every matrix but those of heads of labels is stored as BF16, those of an adapter apart. Then
  /// computing in bf16 loses nothing of the weights.
  bool all_bf16() const;

  /// SHA-256 (hex) of the sorted lines `name dtype [shape] sha256(bytes)` of the tensors that the
  /// architecture reads, followed by LoraAdapter::digest_lines() if there is an adapter, and
  /// config_fingerprint(). It is the same for one file and for shards. The
  /// result is remembered in $XDG_CACHE_HOME/carbon for the path, inode, size and modification time of the
  /// files, if all tensors have a stamp; a cache that cannot be read or written is not an error. `threads`
  /// tensors are hashed at a time. May be called while a decoder uses the tensors.
  std::string sha256(int threads = 1) const;

 private:
  std::string dir_;
  ModelConfig config_;
  std::string rope_override_, metadata_;
  std::vector<std::unique_ptr<TensorFile>> files_;
  struct Place {
    size_t file;  // index into files_
    const TensorInfo* info;
  };
  std::map<std::string, Place, std::less<>> places_;  // by the tensor's name, in the last file with it
  /// Of an adapter: its weights added to the model's, which tensor() returns instead, and what identifies it.
  std::unique_ptr<TensorFile> adapted_;
  std::string adapter_id_, adapter_lines_;

  void apply(const std::optional<RopeScaling>& rope_scaling);
  void open_files();
  void add_file(std::unique_ptr<TensorFile> file);
  void settle(Log& log);
  void settle_head(Log& log);
  void settle_labels();
  void settle_annotator();
  void find_in_shards(const std::string& name);
  void take_score_of(const LoraAdapter& adapter);
  std::optional<TensorView> adapted(std::string_view name, size_t rows, size_t cols) const;
  void check_tensor(const TensorShape& expected) const;
  void check_tensors(Log& log) const;
  void align_tensors();
  const uint8_t* bytes_of(const Place& place) const;
  std::string digest_lines(int threads) const;
};

}  // namespace carbon
