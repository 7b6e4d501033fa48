// A model on a GPU, and the time of what commands do with it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bench/gpu/kernel_times.hpp"
#include "bench/gpu/limits.hpp"
#include "bench/gpu/work.hpp"
#include "src/engine/engine.hpp"

namespace carbon::gpu_bench {

struct Sizes {
  size_t window, context;           // in tokens
  std::span<const size_t> batches;  // sequences of a decode step; may be none
  size_t batch_tokens;              // as --batch-tokens; 0: as many as is usual for the device
  Effort effort;
};

class Model {
 public:
  Model(const std::shared_ptr<const Checkpoint>& checkpoint, const ops::CudaOptions& options,
        const Sizes& sizes);

  const ModelConfig& config() const { return model_.config(); }
  cuda::Stream& stream() const { return device_->stream(); }
  const Sizes& sizes() const { return sizes_; }
  /// Windows that a batch takes.
  size_t windows() const { return windows_; }

  /// What is measured from here on is then run again for the times of its kernels.
  void measure_kernels(KernelTimes& times) { kernel_times_ = &times; }

  /// Seconds of what `carbon score` runs for so many windows.
  double prefill_seconds();

  /// Seconds of what `carbon vep` runs for sites in the middle of their windows, with one alternative allele
  /// each, and how much that is.
  double vep_seconds(size_t sites);
  Work vep_work(size_t sites) const;

  /// Seconds of a step of `carbon generate`: the scheduler draws the next 6-mer of each of `samples` samples,
  /// which have a context of `context` tokens each, on average over the steps.
  double step_seconds(size_t samples);

  /// Seconds of a forward of one token in the class `row_class` for each of `sequences` sequences of
  /// `context` tokens, and of drawing from its rows: a step without its scheduler.
  double forward_seconds(size_t sequences, ops::RowClass row_class);

 private:
  Model(const std::shared_ptr<const Checkpoint>& checkpoint, std::shared_ptr<const cuda::Device> device,
        const ops::CudaOptions& options, const Sizes& sizes);
  Model(const std::shared_ptr<const Checkpoint>& checkpoint, std::shared_ptr<const cuda::Device> device,
        std::unique_ptr<ops::Backend> backend, const Sizes& sizes);
  std::vector<uint32_t> make_tokens(size_t n, size_t from = 0) const;
  std::vector<RequestPtr> prefill_requests() const;
  std::vector<RequestPtr> vep_requests(size_t sites) const;
  double seconds_of(const std::function<void()>& run) const;

  Sizes sizes_;
  std::shared_ptr<const cuda::Device> device_;
  KernelTimes* kernel_times_ = nullptr;
  size_t windows_, scheduled_tokens_;
  LoadedModel model_;
  Engine engine_;
};

}  // namespace carbon::gpu_bench
