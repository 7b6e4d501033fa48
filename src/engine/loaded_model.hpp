// A loaded model on one device, or on each of several. It knows no requests; engine.hpp runs those.
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

struct ModelOptions {
  std::string model;            // "" : the default model
  std::string device = "auto";  // auto, cpu, cuda, cuda:N[,N...]
  std::string dtype = "auto";   // auto, bf16, f32
  int threads = 0;              // 0: available_cpus()
  size_t batch_tokens = 0;      // new tokens under way at a time; 0: default_batch_tokens()
  /// Of parse_rope_scaling; without it what config.json says.
  std::optional<RopeScaling> rope_scaling;
};

/// Twice the rows of one of the backend's passes: 4,096 on a CPU.
size_t default_batch_tokens(const ops::Backend& backend);

/// The numbers in "cuda", "cuda:N" or "cuda:N,N..."; none for auto and cpu. Throws Error for anything else
/// and for a number that is there twice.
std::vector<int> gpu_numbers(const std::string& device);

class LoadedModel {
 public:
  /// Finds and opens the model, chooses device and dtype, prepares the weights. Throws Error, also for a
  /// device that is a list of several: see LoadedModels.
  explicit LoadedModel(const ModelOptions& options);
  /// The same with a checkpoint at hand; options.model and options.rope_scaling are not looked at.
  LoadedModel(const ModelOptions& options, Checkpoint checkpoint);
  /// On a backend at hand. `batch_tokens` as in ModelOptions.
  LoadedModel(std::shared_ptr<const Checkpoint> checkpoint, std::unique_ptr<ops::Backend> backend,
              size_t batch_tokens, int threads);

  const Checkpoint& checkpoint() const { return *checkpoint_; }
  const ModelConfig& config() const { return checkpoint_->config(); }
  Decoder& decoder() { return *decoder_; }
  Head& head() { return *head_; }
  ops::Backend& backend() { return *backend_; }
  size_t batch_tokens() const { return batch_tokens_; }
  /// Halves batch_tokens() with a warning, after an OutOfMemory. Returns false, and changes nothing, when it
  /// is so small that this would not help. No result depends on it.
  bool halve_batch();
  int threads() const { return threads_; }
  /// Checkpoint::sha256(), computed when first asked for.
  const std::string& model_sha256() const;
  /// bf16 or f32.
  std::string dtype() const { return dtype_name(backend_->dtype()); }
  std::string device_kind() const { return backend_->device_kind(); }

 private:
  LoadedModel(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  // Below this activations take less memory than the keys and values of a single window.
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
/// batch limit belong to each model, so that each may be run by its own thread. All devices are of one kind
/// and give the same bits.
class LoadedModels {
 public:
  explicit LoadedModels(const ModelOptions& options);
  /// On backends at hand, at least one; options.model, rope_scaling and dtype are not looked at. Throws Error
  /// when they are of different kinds or, tried on a short sequence, differ in a bit. The threads are shared
  /// out.
  LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint,
               std::vector<std::unique_ptr<ops::Backend>> backends);

  size_t size() const { return models_.size(); }
  LoadedModel& operator[](size_t i) { return *models_[i]; }
  /// All of them, in the order of --device.
  std::vector<LoadedModel*> all() const;
  /// Any of them, for what is the same for all.
  LoadedModel& front() { return *models_.front(); }

 private:
  LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  std::vector<std::unique_ptr<LoadedModel>> models_;
};

}  // namespace carbon
