#include "bench/gpu/model.hpp"

#include <algorithm>

#include "bench/gpu/timing.hpp"
#include "kernels/cuda/cuda_backend.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/bench/tests.hpp"

namespace carbon::gpu_bench {
namespace {

// 6-mers that a sample draws before it begins anew, so that its context hardly changes.
constexpr size_t kSteps = 32;
// The scheduler keeps keys and values of so many batches (src/engine/admission.cpp).
constexpr size_t kCachedBatches = 8;

size_t batch_tokens(const Sizes& sizes, const ops::Backend& backend) {
  return sizes.batch_tokens != 0 ? sizes.batch_tokens : default_batch_tokens(backend);
}

// So many that the scheduler runs the largest batch of samples at once.
size_t scheduled_tokens(const Sizes& sizes, const ops::Backend& backend) {
  const size_t largest = sizes.batches.empty() ? 0 : *std::ranges::max_element(sizes.batches);
  const size_t cached = largest * (sizes.context + kSteps + 2 * ops::kPageTokens);
  return std::max(batch_tokens(sizes, backend), (cached + kCachedBatches - 1) / kCachedBatches);
}

RequestPtr make_request(std::vector<uint32_t> tokens, HeadKind head, size_t want_begin) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = head;
  request->want_begin = want_begin;
  return request;
}

}  // namespace

Model::Model(const std::shared_ptr<const Checkpoint>& checkpoint, const ops::CudaOptions& options,
             const Sizes& sizes)
    : Model(checkpoint, std::make_shared<const cuda::Device>(options.device), options, sizes) {}

Model::Model(const std::shared_ptr<const Checkpoint>& checkpoint, std::shared_ptr<const cuda::Device> device,
             const ops::CudaOptions& options, const Sizes& sizes)
    : Model(checkpoint, device, cuda::make_backend(device, options), sizes) {}

Model::Model(const std::shared_ptr<const Checkpoint>& checkpoint, std::shared_ptr<const cuda::Device> device,
             std::unique_ptr<ops::Backend> backend, const Sizes& sizes)
    : sizes_(sizes),
      device_(std::move(device)),
      windows_(std::max<size_t>(1, batch_tokens(sizes, *backend) / sizes.window)),
      scheduled_tokens_(scheduled_tokens(sizes, *backend)),
      model_(checkpoint, std::move(backend), scheduled_tokens_, available_cpus()),
      engine_({&model_}) {}

std::vector<uint32_t> Model::make_tokens(size_t n, size_t from) const {
  std::vector<uint32_t> tokens(n);
  for (size_t i = 0; i < n; ++i)
    tokens[i] = config().layout.kmer0() + static_cast<uint32_t>((from + i) * 2654435761u % ops::kKmers);
  return tokens;
}

double Model::seconds_of(const std::function<void()>& run) const {
  const double seconds = median_seconds(sizes_.effort.seconds, sizes_.effort.repeats, run);
  // The engine goes on with smaller batches, but that is not what is asked for.
  if (model_.batch_tokens() < scheduled_tokens_) throw OutOfMemory("bench_gpu", "a batch does not fit");
  if (kernel_times_ != nullptr) kernel_times_->measure(sizes_.effort.repeats, run);
  return seconds;
}

std::vector<RequestPtr> Model::prefill_requests() const {
  std::vector<RequestPtr> requests;
  for (size_t i = 0; i < windows_; ++i)
    requests.push_back(make_request(make_tokens(sizes_.window, i), HeadKind::marginals, 0));
  return requests;
}

double Model::prefill_seconds() {
  return seconds_of([&] { run_requests(engine_, prefill_requests()); });
}

std::vector<RequestPtr> Model::vep_requests(size_t sites) const {
  std::vector<RequestPtr> requests;
  const size_t variant = sizes_.window / 2;  // the first token that differs; the row before it is shared
  for (size_t i = 0; i < 2 * sites; ++i) {   // of each strand
    const std::vector<uint32_t> tokens = make_tokens(sizes_.window, i);
    std::vector<uint32_t> alternative(tokens.begin() + static_cast<ptrdiff_t>(variant), tokens.end());
    alternative[0] = tokens[variant - 1];
    const RequestPtr suffix = make_request(std::move(alternative), HeadKind::marginals, 0);
    suffix->parent = make_request(tokens, HeadKind::marginals, variant - 1);
    suffix->parent->forks = 1;
    suffix->shared = variant;
    requests.insert(requests.end(), {suffix->parent, suffix});
  }
  return requests;
}

Work Model::vep_work(size_t sites) const {
  const carbon::PassWork work = requests_work(config(), {}, vep_requests(sites));
  return {work.flops, work.bytes};
}

double Model::vep_seconds(size_t sites) {
  return seconds_of([&] { run_requests(engine_, vep_requests(sites)); });
}

double Model::step_seconds(size_t samples) {
  Scheduler scheduler(model_);
  std::vector<RequestPtr> prompts;
  for (size_t i = 0; i < samples; ++i) {
    std::vector<uint32_t> tokens = make_tokens(sizes_.context - kSteps / 2, i);
    const size_t last = tokens.size() - 1;
    prompts.push_back(make_request(std::move(tokens), HeadKind::kmer_logits, last));
    prompts.back()->forks = uint32_t{1} << 30;  // however often its sample begins anew
    scheduler.add(prompts.back());
  }
  while (scheduler.step()) continue;
  const auto bases = std::make_shared<NewBases>();
  bases->length = kSteps * ops::kBases;
  uint32_t begun = 0;
  return seconds_of([&] {
    if (scheduler.idle())
      for (const RequestPtr& prompt : prompts) {
        const RequestPtr sample = make_request({}, HeadKind::none, 0);
        sample->parent = prompt;
        sample->shared = prompt->tokens.size();
        sample->generation = {bases, {}, 0, ++begun, nullptr};
        scheduler.add(sample);
      }
    scheduler.step();
  });
}

double Model::forward_seconds(size_t sequences, ops::RowClass row_class) {
  Decoder& decoder = model_.decoder();
  const size_t context = sizes_.context;
  const std::vector<uint32_t> past = make_tokens(context), next = make_tokens(1);
  std::vector<Sequence> all;
  std::vector<Chunk> chunks;
  all.reserve(sequences);
  DrawChains chains;
  for (size_t i = 0; i < sequences; ++i) {
    all.push_back(decoder.kv().make_sequence());
    const Chunk chunk{&all.back(), past, context, context};  // no row is wanted
    decoder.forward(std::span(&chunk, 1));
    chunks.push_back({&all.back(), next, 0, 1, row_class});
    SampleDraw draw;
    draw.counter = draw_counter({i, 0, 0});
    draw.allowed = kAllAllowed;
    chains.add(draw);
    chains.end_chain();
  }
  KmerDraws draws(model_.backend(), model_.head(), model_.pool());
  return seconds_of([&] {
    draws.draw(decoder.forward(chunks), decoder, chains, [](size_t, const ops::DrawnKmer&) { return true; });
    for (Sequence& sequence : all) sequence.truncate(context);
  });
}

}  // namespace carbon::gpu_bench
