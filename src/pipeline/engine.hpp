// A loaded model on a device: what every command that runs the model starts from.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "src/decoder/decoder.hpp"
#include "src/decoder/head.hpp"
#include "src/model/checkpoint.hpp"

namespace carbon {

struct EngineOptions {
  std::string model;            // "" : the default model
  std::string device = "auto";  // auto, cpu, cuda, cuda:N
  std::string dtype = "auto";   // auto, bf16, f32
  int threads = 0;              // 0: available_cpus()
  size_t batch_tokens = 4096;   // soft limit on new tokens a forward
  /// Of parse_rope_scaling; without it what config.json says.
  std::optional<RopeScaling> rope_scaling;
};

class Engine {
 public:
  /// Finds and opens the model, chooses device and dtype, prepares the weights. Throws Error.
  explicit Engine(const EngineOptions& options);
  /// The same with a checkpoint at hand; options.model and options.rope_scaling are not looked at.
  Engine(const EngineOptions& options, Checkpoint checkpoint);

  const Checkpoint& checkpoint() const { return checkpoint_; }
  const ModelConfig& config() const { return checkpoint_.config(); }
  Decoder& decoder() { return *decoder_; }
  Head& head() { return *head_; }
  ops::Backend& backend() { return *backend_; }
  size_t batch_tokens() const { return batch_tokens_; }
  /// After an OutOfMemory: halves batch_tokens() with a warning. False when that is of no use any more. No
  /// result depends on it.
  bool take_less();
  int threads() const { return threads_; }
  /// Checkpoint::sha256(), computed when first asked for.
  const std::string& model_sha256() const;
  /// bf16 or f32.
  std::string dtype() const { return dtype_name(backend_->dtype()); }
  std::string device_kind() const { return backend_->device_kind(); }

 private:
  // A single window may be longer than this, and then nothing is gained by going on.
  static constexpr size_t kLeastBatch = 64;

  Checkpoint checkpoint_;
  size_t batch_tokens_;
  int threads_;
  mutable std::string model_sha256_;
  std::unique_ptr<ops::Backend> backend_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Head> head_;
};

}  // namespace carbon
