#include "src/engine/loaded_model.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/settings.hpp"
#include "src/base/system.hpp"
#include "src/model/config.hpp"
#include "src/model/digest.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/lora.hpp"
#include "src/model/model_use.hpp"
#include "src/model/registry.hpp"

namespace carbon {
namespace {

// The kind of GPU on which the CUDA backend has been checked (bench/results/gpu.md).
constexpr std::string_view kCheckedGpu = "cuda:sm_90x";
// The kind of GPU whose tensor cores multiply f16 alone, such as a T4.
constexpr std::string_view kF16Gpu = "cuda:sm_75x";

// What --dtype says: the type of activations, and that of the factors of products if it is another.
struct Numbers {
  DType type;
  bool int8 = false;
};

Numbers chosen_numbers(const ModelOptions& options, const Checkpoint& checkpoint) {
  if (options.dtype == "int8") return {DType::bf16, true};
  for (const DType type : {DType::bf16, DType::f16, DType::f32})
    if (options.dtype == dtype_name(type)) return {type};
  return {checkpoint.all_bf16() ? DType::bf16 : DType::f32};
}

int thread_count(const ModelOptions& options) {
  return options.threads > 0 ? options.threads : available_cpus();
}

std::vector<std::unique_ptr<ops::Backend>> make_backends(const ModelOptions& options, Numbers numbers) {
  const std::vector<int> gpus = gpu_numbers(options.device);
  std::vector<std::unique_ptr<ops::Backend>> backends;
  if (gpus.empty()) {
    ops::CpuOptions cpu;
    cpu.dtype = numbers.type;
    cpu.int8 = numbers.int8;
    cpu.threads = thread_count(options);
    backends.push_back(ops::make_cpu_backend(cpu));
    return backends;
  }
  if (numbers.int8)
    throw Error("engine", options.device + ": a GPU does not compute in int8 yet, only a CPU does",
                {"use {--device} cpu, or {--dtype} bf16 on a GPU"});
  for (const int gpu : gpus) {
    ops::CudaOptions cuda;
    cuda.dtype = numbers.type;
    cuda.device = gpu;
    backends.push_back(ops::make_cuda_backend(cuda));
  }
  const std::string kind = backends.front()->device_kind();
  if (kind.starts_with(kF16Gpu) && numbers.type != DType::f16)
    options.log->warning("engine",
                         std::string("the tensor cores of this GPU multiply f16 alone: expect the run in ") +
                             dtype_name(numbers.type) + " to take several times as long as in f16",
                         {"use {--dtype} f16"});
  else if (numbers.type == DType::f32)
    options.log->warning(
        "engine",
        "in f32 a GPU computes without its tensor cores, with kernels written for comparison "
        "and not for speed: expect the run to take far longer than in bf16",
        {"use {--dtype} bf16 unless scores in f32 are needed"});
  if (!kind.starts_with(kCheckedGpu))
    options.log->warning("engine",
                         kind +
                             ": for this kind of GPU the CUDA backend has been checked by emulation only, "
                             "not yet on a card: compare its scores with those of the CPU",
                         {"run with {--device} cpu for these"});
  return backends;
}

std::unique_ptr<ops::Backend> make_backend(const ModelOptions& options, Numbers numbers) {
  if (gpu_numbers(options.device).size() > 1)
    throw Error("engine", options.device + " names several GPUs, but this command uses one GPU",
                {"name one with {--device}"});
  return std::move(make_backends(options, numbers).front());
}

std::string chosen_model(const ModelOptions& options) {
  if (!options.model.empty()) return resolve_model(options.model, *options.log);
  if (default_is_bundled()) check_bundled_use(options.use, !options.lora.empty());
  return default_model(*options.log);
}

Checkpoint open_checkpoint(const ModelOptions& options) {
  Log& log = *options.log;
  Checkpoint checkpoint(chosen_model(options), options.rope_scaling, log);
  if (options.dtype == "auto" && decoder_tensors(checkpoint).layers.front().down.dtype == WeightType::q8_0)
    log.info("engine", checkpoint.id() + " has weights of Q8_0, which are widened to f32",
             {"{--dtype} int8 computes with them as they are"});
  const MetadataChoice& metadata = options.metadata;
  const std::string text =
      metadata.text.empty() ? metadata_text(checkpoint.config().layout, metadata.names) : metadata.text;
  if (!text.empty()) checkpoint.set_metadata(text, prefix_ids(checkpoint, text));
  if (!options.lora.empty()) {
    const Numbers numbers = chosen_numbers(options, checkpoint);
    // Weights that will be rounded to int8 or f16 are not rounded to bf16 before.
    const bool wide = numbers.int8 || numbers.type != DType::bf16;
    checkpoint.add_adapter(LoraAdapter(options.lora), wide ? WeightType::f32 : WeightType::bf16,
                           thread_count(options));
  }
  check_use(checkpoint, options.use);
  if (checkpoint.config().annotator && !gpu_numbers(options.device).empty())
    throw Error("engine",
                checkpoint.id() +
                    " annotates, which is not done on a GPU yet: its attention has not been checked there",
                {"use {--device} cpu"});
  return checkpoint;
}

// Called before the weights are loaded, which takes long.
void check_kinds(const ModelOptions& options, std::span<const std::unique_ptr<ops::Backend>> backends) {
  const std::string first = backends.front()->device_kind();
  for (const auto& backend : backends)
    if (const std::string kind = backend->device_kind(); kind != first)
      throw Error("engine",
                  options.device + ": the GPUs are of different kinds, " + first + " and " + kind +
                      ", and a score would depend on which of them computed it",
                  {"name GPUs of one kind with {--device}"});
}

// Marginals of a short sequence, or the hidden states where there is no output matrix. Computing them uses
// every weight and every kind of matrix product.
std::vector<double> probe(LoadedModel& model) {
  const TokenLayout& layout = model.config().layout;
  std::vector<uint32_t> tokens{layout.begin()};
  while (tokens.size() < std::min<size_t>(ops::kPageTokens, model.config().max_positions))
    tokens.push_back(layout.kmer_id(61 * tokens.size() % layout.kmers()));
  Sequence sequence = model.decoder().kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  const HiddenRows rows = model.decoder().forward(std::span(&chunk, 1));
  if (!model.config().has_output_matrix()) {
    std::vector<float> states(rows.count * model.config().hidden);
    model.decoder().download_residual(rows, states.data());
    return {states.begin(), states.end()};
  }
  std::vector<double> marginals(rows.count * layout.bases() * ops::kLetters);
  model.head().marginals(rows, marginals.data());
  return marginals;
}

// Devices of one kind should give the same bits. This tests it, because a library may still choose another
// algorithm on one of them.
void check_agreement(const ModelOptions& options, LoadedModels& models) {
  const std::vector<double> first = probe(models.front());
  for (size_t i = 1; i < models.size(); ++i)
    if (const std::vector<double> other = probe(models[i]);
        std::memcmp(first.data(), other.data(), first.size() * sizeof(double)) != 0)
      throw Error("engine",
                  options.device + ": GPU number " + std::to_string(i + 1) +
                      " of this list gives other bits than the first, although both are of one kind; test it "
                      "with make check-gpu",
                  {"and leave it out of {--device}"});
}

// The weights lie in the domains of the threads that packed them, and each thread reads all of them.
void report_domains(LoadedModel& model) {
  if (model.pool().size() < 2 || model.backend().pool() == nullptr) return;
  const int domains = memory_domains();
  if (domains < 2) return;
  model.log().info("engine",
                   "the threads may run in " + std::to_string(domains) +
                       " memory domains (NUMA nodes), and memory of another one takes longer to read; "
                       "one process in each, with a --shard of its own, avoids that");
}

void report_model(const LoadedModel& model, size_t devices) {
  model.log().info("engine", "model " + model.checkpoint().id() + ", " + model.dtype() + ", " +
                                 model.device_kind() +
                                 (devices > 1 ? ", " + std::to_string(devices) + " of them" : ""));
  if (const std::string known = long_context_warning(model.config()); !known.empty())
    model.log().warning("engine", known);
}

// What a header line of the model begins with, and what it says of its weights.
std::string line_beginning(const std::string& name, const std::string& id) {
  return "##carbon_" + name + "Model=<ID=" + id + ",Model=\"";
}

std::string line_weights(const std::string& sha256, const std::string& dtype) {
  return "\",SHA256=" + sha256 + ",Dtype=" + dtype + ",";
}

}  // namespace

std::vector<int> gpu_numbers(const std::string& device) {
  if (device == "auto" || device == "cpu") return {};
  if (device == "cuda") return {0};
  constexpr std::string_view kPrefix = "cuda:";
  const auto malformed = [&] {
    return Error("engine",
                 "'" + device + "' is not a device: expected auto, cpu, cuda, cuda:N, or cuda:N,N... for " +
                     "several GPUs",
                 {"correct {--device}"});
  };
  if (!device.starts_with(kPrefix)) throw malformed();
  std::vector<int> numbers;
  const char *at = device.data() + kPrefix.size(), *const end = device.data() + device.size();
  for (;;) {
    int number = -1;
    const auto [stop, problem] = std::from_chars(at, end, number);
    if (problem != std::errc() || number < 0 || (stop != end && *stop != ',')) throw malformed();
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
      throw Error("engine", device + " names GPU " + std::to_string(number) + " twice",
                  {"correct {--device}"});
    numbers.push_back(number);
    if (stop == end) return numbers;
    at = stop + 1;
  }
}

LoadedModel::LoadedModel(const ModelOptions& options) : LoadedModel(options, open_checkpoint(options)) {}

LoadedModel::LoadedModel(const ModelOptions& options, Checkpoint checkpoint)
    : LoadedModel(options, std::make_shared<const Checkpoint>(std::move(checkpoint))) {
  report_model(*this, 1);
  report_domains(*this);
}

LoadedModel::LoadedModel(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint)
    : LoadedModel(checkpoint, make_backend(options, chosen_numbers(options, *checkpoint)),
                  options.batch_tokens, thread_count(options), *options.log) {}

LoadedModel::LoadedModel(std::shared_ptr<const Checkpoint> checkpoint, std::unique_ptr<ops::Backend> backend,
                         size_t batch_tokens, int threads, Log& log)
    : checkpoint_(std::move(checkpoint)),
      batch_tokens_(batch_tokens != 0 ? batch_tokens : default_batch_tokens(*backend)),
      log_(&log),
      backend_(std::move(backend)),
      own_pool_(backend_->pool() ? nullptr : std::make_unique<ThreadPool>(threads)),
      pool_(own_pool_ ? own_pool_.get() : backend_->pool()),
      decoder_(std::make_unique<Decoder>(*backend_, *checkpoint_)),
      head_(std::make_unique<Head>(*backend_, *checkpoint_)),
      annotator_head_(config().annotator ? std::make_unique<AnnotatorHead>(*checkpoint_) : nullptr) {}

size_t default_batch_tokens(const ops::Backend& backend) {
  return 2 * backend.pass_rows();
}

bool LoadedModel::halve_batch() {
  if (batch_tokens_ <= kLeastBatch) return false;
  batch_tokens_ = std::max(batch_tokens_ / 2, kLeastBatch);
  const std::string tokens = std::to_string(batch_tokens_);
  log_->warning("engine", "out of memory: going on with batches of at most " + tokens + " new tokens",
                {"{--batch-tokens 0} avoids the attempt", {tokens}});
  return true;
}

const std::string& LoadedModel::model_sha256() const {
  if (model_sha256_.empty()) model_sha256_ = checkpoint_->sha256(threads());
  return model_sha256_;
}

std::vector<LoadedModel*> LoadedModels::all() const {
  std::vector<LoadedModel*> models;
  for (const auto& model : models_) models.push_back(model.get());
  return models;
}

LoadedModels::LoadedModels(const ModelOptions& options)
    : LoadedModels(options, std::make_shared<const Checkpoint>(open_checkpoint(options))) {}

LoadedModels::LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint)
    : LoadedModels(options, checkpoint, make_backends(options, chosen_numbers(options, *checkpoint))) {}

LoadedModels::LoadedModels(const ModelOptions& options, const std::shared_ptr<const Checkpoint>& checkpoint,
                           std::vector<std::unique_ptr<ops::Backend>> backends) {
  check_kinds(options, backends);
  const int threads = std::max(thread_count(options) / static_cast<int>(backends.size()), 1);
  for (auto& backend : backends)
    models_.push_back(std::make_unique<LoadedModel>(checkpoint, std::move(backend), options.batch_tokens,
                                                    threads, *options.log));
  if (size() > 1) check_agreement(options, *this);
  report_model(front(), size());
}

RunIdentity identity_of(const LoadedModel& model) {
  const std::string& metadata = model.checkpoint().metadata();
  RunIdentity run{{"model", model.model_sha256()},
                  {"dtype", model.dtype()},
                  {"device", model.device_kind()},
                  {"metadata", metadata.empty() ? "none" : metadata}};
  if (const std::string choices = model.library_choices(); !choices.empty())
    run.emplace("algorithms", sha256_hex(choices).substr(0, 16));
  return run;
}

std::string model_line(const std::string& name, const std::string& id, const LoadedModel& model,
                       const std::string& settings) {
  std::string line = line_beginning(name, id) + model.checkpoint().id() +
                     line_weights(model.model_sha256(), model.dtype()) + "Device=\"" + model.device_kind() +
                     "\"," + settings;
  if (const std::string& scaling = model.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  if (const std::string& text = model.checkpoint().metadata(); !text.empty())
    line += ",Metadata=" + quoted_field(text);
  return line + ">";
}

// The name of a model has no quotes, so the first one ends it.
bool is_model_line(const std::string& line, const std::string& name, const std::string& id,
                   const std::string& sha256, const std::string& dtype) {
  const std::string start = line_beginning(name, id);
  if (!line.starts_with(start)) return false;
  const size_t end = line.find('"', start.size());
  return end != std::string::npos && line.substr(end).starts_with(line_weights(sha256, dtype));
}

}  // namespace carbon
