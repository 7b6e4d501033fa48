#include "src/pipeline/engine.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "src/model/registry.hpp"
#include "src/model/rope_scaling.hpp"
#include "src/util/cpus.hpp"
#include "src/util/error.hpp"
#include "src/util/log.hpp"

namespace carbon {
namespace {

DType chosen_type(const EngineOptions& options, const Checkpoint& checkpoint) {
  if (options.dtype == "auto") return checkpoint.all_bf16() ? DType::bf16 : DType::f32;
  return options.dtype == "bf16" ? DType::bf16 : DType::f32;
}

// The number of the one GPU that "cuda" or "cuda:N" names.
int cuda_device(const std::string& device) {
  constexpr std::string_view kPrefix = "cuda:";
  if (device == "cuda") return 0;
  const std::string_view list = std::string_view(device).substr(std::min(kPrefix.size(), device.size()));
  int number = -1;
  const auto [end, status] = std::from_chars(list.data(), list.data() + list.size(), number);
  if (!device.starts_with(kPrefix) || status != std::errc() || number < 0)
    throw Error("engine", "--device " + device + ": expected auto, cpu, cuda or cuda:N");
  if (end != list.data() + list.size())
    throw Error("engine", "--device " + device +
                              ": only one GPU is used; name one, or run a share of the input on each (carbon "
                              "vep --shard)");
  return number;
}

std::unique_ptr<ops::Backend> make_backend(const EngineOptions& options, DType dtype, int threads) {
  if (options.device == "auto")
    log::info("engine",
              "--device auto is the CPU: the CUDA backend has yet to be verified on a GPU, and runs "
              "only with --device cuda");
  if (options.device == "auto" || options.device == "cpu") {
    ops::CpuOptions cpu;
    cpu.dtype = dtype;
    cpu.threads = threads;
    return ops::make_cpu_backend(cpu);
  }
  ops::CudaOptions cuda;
  cuda.dtype = dtype;
  cuda.device = cuda_device(options.device);
  auto backend = ops::make_cuda_backend(cuda);
  log::warning("engine",
               "the CUDA backend has been checked by emulation only, not yet on a GPU: compare its "
               "scores with --device cpu");
  return backend;
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : Engine(options, Checkpoint(options.model.empty() ? default_model() : resolve_model(options.model),
                                 options.rope_scaling)) {}

Engine::Engine(const EngineOptions& options, Checkpoint checkpoint)
    : checkpoint_(std::move(checkpoint)),
      batch_tokens_(options.batch_tokens),
      threads_(options.threads > 0 ? options.threads : available_cpus()),
      backend_(make_backend(options, chosen_type(options, checkpoint_), threads_)),
      decoder_(std::make_unique<Decoder>(*backend_, checkpoint_)),
      head_(std::make_unique<Head>(*backend_, checkpoint_)) {
  log::info("engine", "model " + checkpoint_.id() + ", " + dtype() + ", " + device_kind());
  if (const std::string known = long_context_warning(config()); !known.empty()) log::warning("engine", known);
}

bool Engine::take_less() {
  if (batch_tokens_ <= kLeastBatch) return false;
  batch_tokens_ = std::max(batch_tokens_ / 2, kLeastBatch);
  log::warning("engine", "out of memory: going on with " + std::to_string(batch_tokens_) +
                             " new tokens a forward; --batch-tokens " + std::to_string(batch_tokens_) +
                             " avoids the attempt");
  return true;
}

const std::string& Engine::model_sha256() const {
  if (model_sha256_.empty()) model_sha256_ = checkpoint_.sha256(threads_);
  return model_sha256_;
}

}  // namespace carbon
