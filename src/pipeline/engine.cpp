#include "src/pipeline/engine.hpp"

#include <utility>

#include "src/model/registry.hpp"
#include "src/model/rope_scaling.hpp"
#include "src/util/cpus.hpp"
#include "src/util/error.hpp"
#include "src/util/log.hpp"

namespace carbon {
namespace {

std::unique_ptr<ops::Backend> make_backend(const EngineOptions& options, const Checkpoint& checkpoint,
                                           int threads) {
  if (options.device.starts_with("cuda"))
    throw Error("engine", "--device " + options.device +
                              ": this build of carbon has no CUDA backend; use --device cpu");
  if (options.device != "auto" && options.device != "cpu")
    throw Error("engine", "--device " + options.device + ": expected auto, cpu, cuda or cuda:0,1");
  ops::CpuOptions cpu;
  if (options.dtype == "auto")
    cpu.dtype = checkpoint.all_bf16() ? DType::bf16 : DType::f32;
  else
    cpu.dtype = options.dtype == "bf16" ? DType::bf16 : DType::f32;
  cpu.threads = threads;
  return ops::make_cpu_backend(cpu);
}

}  // namespace

Engine::Engine(const EngineOptions& options)
    : Engine(options, Checkpoint(options.model.empty() ? default_model() : resolve_model(options.model),
                                 options.rope_scaling)) {}

Engine::Engine(const EngineOptions& options, Checkpoint checkpoint)
    : checkpoint_(std::move(checkpoint)),
      batch_tokens_(options.batch_tokens),
      threads_(options.threads > 0 ? options.threads : available_cpus()),
      backend_(make_backend(options, checkpoint_, threads_)),
      decoder_(std::make_unique<Decoder>(*backend_, checkpoint_)),
      head_(std::make_unique<Head>(*backend_, checkpoint_)) {
  log::info("engine", "model " + checkpoint_.id() + ", " + dtype() + ", " + device_kind());
  if (const std::string known = long_context_warning(config()); !known.empty()) log::warning("engine", known);
}

const std::string& Engine::model_sha256() const {
  if (model_sha256_.empty()) model_sha256_ = checkpoint_.sha256(threads_);
  return model_sha256_;
}

}  // namespace carbon
