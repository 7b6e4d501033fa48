// A loaded model on a device, or on each of several: what every command that runs the model starts from.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/model/checkpoint.hpp"
#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"

namespace carbon {

struct EngineOptions {
  std::string model;            // "" : the default model
  std::string device = "auto";  // auto, cpu, cuda, cuda:N[,N...]
  std::string dtype = "auto";   // auto, bf16, f32
  int threads = 0;              // 0: available_cpus()
  size_t batch_tokens = 0;      // soft limit on new tokens a forward; 0: default_batch_tokens()
  /// Of parse_rope_scaling; without it what config.json says.
  std::optional<RopeScaling> rope_scaling;
};

/// Two passes of the backend, so that the last of a forward is seldom a short one: 4,096 on a CPU.
size_t default_batch_tokens(const ops::Backend& backend);

/// The numbers in "cuda", "cuda:N" or "cuda:N,N..."; none for auto and cpu. Throws Error for anything else
/// and for a number that is there twice.
std::vector<int> gpu_numbers(const std::string& device);

class Engine {
 public:
  /// Finds and opens the model, chooses device and dtype, prepares the weights. Throws Error, also for a
  /// device that is a list of several: see Engines.
  explicit Engine(const EngineOptions& options);
  /// The same with a checkpoint at hand; options.model and options.rope_scaling are not looked at.
  Engine(const EngineOptions& options, Checkpoint checkpoint);
  /// On a backend at hand. `batch_tokens` as in EngineOptions.
  Engine(std::shared_ptr<const Checkpoint> checkpoint, std::unique_ptr<ops::Backend> backend,
         size_t batch_tokens, int threads);

  const Checkpoint& checkpoint() const { return *checkpoint_; }
  const ModelConfig& config() const { return checkpoint_->config(); }
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
  Engine(const EngineOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  // A single window may be longer than this, and then nothing is gained by going on.
  static constexpr size_t kLeastBatch = 64;

  std::shared_ptr<const Checkpoint> checkpoint_;
  size_t batch_tokens_;
  int threads_;
  mutable std::string model_sha256_;
  std::unique_ptr<ops::Backend> backend_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Head> head_;
};

/// A model on every device that --device names. They share the checkpoint; weights on the device, cache and
/// batch limit are each engine's own, so that each may be driven by a thread of its own. All are of one kind
/// and give the same bits.
class Engines {
 public:
  explicit Engines(const EngineOptions& options);
  /// On backends at hand, at least one; options.model, rope_scaling and dtype are not looked at. Throws Error
  /// when they are of different kinds or, tried on a short sequence, differ in a bit. The threads are shared
  /// out.
  Engines(const EngineOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint,
          std::vector<std::unique_ptr<ops::Backend>> backends);

  size_t size() const { return engines_.size(); }
  Engine& operator[](size_t i) { return *engines_[i]; }
  /// Any of them, for what is the same for all.
  Engine& front() { return *engines_.front(); }

 private:
  Engines(const EngineOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace carbon
