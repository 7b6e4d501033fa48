// A loaded model on one device, or a copy on each of several devices: checkpoint, backend, decoder and head;
// and what a run says of the model, in its identity and in the header lines of its output.
//
// It does not know requests; engine.hpp runs those.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"
#include "src/model/checkpoint.hpp"
#include "src/model/model_use.hpp"
#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"
#include "tokenizer/metadata_tags.hpp"

namespace carbon {

/// What every sequence of a run is said to be: a text, or names from which the tags are made. All empty:
/// nothing.
struct MetadataChoice {
  std::string text;
  MetadataNames names;
};

/// The words of ModelOptions::dtype, of which the checkpoint and the backend make types.
inline constexpr Word<const char*> kModelDtypeWords[] = {
    {"auto", "auto"}, {"bf16", "bf16"}, {"f16", "f16"}, {"f32", "f32"}, {"int8", "int8"}};

struct ModelOptions {
  std::string model;            // directory or name; "" : the default model
  std::string device = "auto";  // auto, cpu, cuda, cuda:N[,N...]
  std::string dtype = "auto";   // one of kModelDtypeWords
  int threads = 0;              // 0: available_cpus()
  size_t batch_tokens = 0;      // new tokens of one batch; 0: default_batch_tokens()
  /// Replaces the rope scaling of config.json.
  std::optional<RopeScaling> rope_scaling;
  MetadataChoice metadata;         // beside every sequence that the model's layout begins
  std::string lora;                // directory of an adapter whose weights are added; "": none
  ModelUse use = ModelUse::bases;  // what the command wants of the model
  Log* log = &silent_log();        // of the model and of what runs on it
};

/// Twice the rows of one pass of the backend: 4,096 on a CPU.
size_t default_batch_tokens(const ops::Backend& backend);

/// The numbers in "cuda", "cuda:N" or "cuda:N,N..."; none for auto and cpu. Throws Error for any other text
/// and for a repeated number.
std::vector<int> gpu_numbers(const std::string& device);

class LoadedModel {
 public:
  /// Finds and opens the model, chooses device and dtype, prepares the weights. Throws Error, also for a
  /// model that cannot be used as options.use says, and if options.device names several GPUs: see
  /// LoadedModels.
  explicit LoadedModel(const ModelOptions& options);
  /// The same with a checkpoint that is already open; options.model, rope_scaling, lora, use and metadata are
  /// not used.
  LoadedModel(const ModelOptions& options, Checkpoint checkpoint);
  /// The same on a given backend. `batch_tokens` as in ModelOptions; `threads`, at least 1, are those of the
  /// host if the backend has none.
  LoadedModel(std::shared_ptr<const Checkpoint> checkpoint, std::unique_ptr<ops::Backend> backend,
              size_t batch_tokens, int threads, Log& log = silent_log());

  const Checkpoint& checkpoint() const { return *checkpoint_; }
  const ModelConfig& config() const { return checkpoint_->config(); }
  Decoder& decoder() { return *decoder_; }
  Head& head() { return *head_; }
  /// Of an annotator.
  const AnnotatorHead& annotator_head() const { return *annotator_head_; }
  ops::Backend& backend() { return *backend_; }
  size_t batch_tokens() const { return batch_tokens_; }
  /// Halves batch_tokens() with a warning, after an OutOfMemory. Returns false and changes nothing if
  /// batch_tokens() is already so small that halving would not help. No result depends on it.
  bool halve_batch();
  /// Threads of the host: those of the backend if it has some.
  ThreadPool& pool() { return *pool_; }
  int threads() const { return pool_->size(); }
  Log& log() const { return *log_; }
  /// Checkpoint::sha256(), computed when first asked for.
  const std::string& model_sha256() const;
  /// bf16, f16, f32 or int8.
  std::string dtype() const { return backend_->int8() ? "int8" : dtype_name(backend_->dtype()); }
  std::string device_kind() const { return backend_->device_kind(); }
  /// ops::Backend::library_choices() of this device.
  std::string library_choices() const { return backend_->library_choices(); }

 private:
  LoadedModel(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  // With fewer tokens, activations take less memory than the keys and values of a single window.
  static constexpr size_t kLeastBatch = 64;

  std::shared_ptr<const Checkpoint> checkpoint_;
  size_t batch_tokens_;
  Log* log_;
  mutable std::string model_sha256_;
  std::unique_ptr<ops::Backend> backend_;
  std::unique_ptr<ThreadPool> own_pool_;  // null if the backend has one
  ThreadPool* pool_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Head> head_;
  std::unique_ptr<AnnotatorHead> annotator_head_;  // null for other models
};

/// What the results of a model depend on, for runs that continue earlier ones.
RunIdentity identity_of(const LoadedModel& model);

/// A model on every device that ModelOptions::device names. The models share the checkpoint. Each has
/// separate weights, KV cache and batch limit, so that each may be run by a separate thread. All devices are
/// of one kind and give the same bits.
class LoadedModels {
 public:
  explicit LoadedModels(const ModelOptions& options);
  /// The same on given backends, at least one; options.model, rope_scaling, lora, metadata and dtype are not
  /// used. Throws Error if the backends are of different kinds, or if their results for a short sequence
  /// differ in a bit. options.threads are divided among the models.
  LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint,
               std::vector<std::unique_ptr<ops::Backend>> backends);

  size_t size() const { return models_.size(); }
  LoadedModel& operator[](size_t i) { return *models_[i]; }
  /// All of them, in the order of ModelOptions::device.
  std::vector<LoadedModel*> all() const;
  /// One of them, for properties that all share.
  LoadedModel& front() { return *models_.front(); }

 private:
  LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint);

  std::vector<std::unique_ptr<LoadedModel>> models_;
};

/// `##carbon_NAMEModel=<ID=...,Model="...",...,SETTINGS>`: everything that the scores depend on besides the
/// input, so that runs with the same line give the same bytes. `name` is that of the command, `id` the tag of
/// the scores, `settings` are the command's own KEY=VALUE with commas between them.
std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings);

/// Whether a line that model_line() wrote for `name` and `id` names these weights and this data type.
bool is_model_line(const std::string& line, const std::string& name, const std::string& id,
                   const std::string& sha256, const std::string& dtype);

}  // namespace carbon
