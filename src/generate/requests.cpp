#include "src/generate/requests.hpp"

#include <algorithm>

#include "src/engine/engine.hpp"
#include "src/engine/ordered_writer.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// The request that computes the prompt. Its samples draw their first 6-mer from the logits of its last row.
RequestPtr prompt_request(const Prompt& prompt, size_t samples) {
  const auto request = std::make_shared<Request>();
  request->tokens = prompt.context;
  request->head = HeadKind::kmer_logits;
  request->want_begin = prompt.context.size() - 1;
  request->forks = static_cast<uint32_t>(samples);
  return request;
}

}  // namespace

void emit_samples(const std::shared_ptr<const Prompt>& prompt, SampleRange range,
                  const SamplerOptions& sampler, size_t devices,
                  const std::function<void(SampleItem)>& emit) {
  const size_t samples = range.end - range.begin;
  std::vector<RequestPtr> parents(std::min(devices, samples));
  for (size_t i = 0; i < samples; ++i) {
    SampleItem item{prompt, static_cast<uint32_t>(range.begin + i), {}};
    const auto request = std::make_shared<Request>();
    Generation& generation = request->generation.emplace();
    generation.bases = prompt->bases;
    generation.bounds = prompt->bounds;
    generation.bound_start = prompt->bound_start;
    generation.sampler = sampler;
    generation.record = prompt->record;
    generation.sample = item.sample;
    generation.draft_context = prompt->draft_context;
    const size_t part = i % parents.size();
    const size_t share = (samples - part + parents.size() - 1) / parents.size();
    if (share == 1) {
      request->tokens = prompt->context;  // a single sample computes the prompt itself
    } else {
      if (!parents[part]) {
        parents[part] = prompt_request(*prompt, share);
        item.requests.push_back(parents[part]);
      }
      request->parent = parents[part];
      request->shared = prompt->context.size();
    }
    item.requests.push_back(request);
    emit(std::move(item));
  }
}

std::string new_bases(const Request& request) {
  const NewBases& bases = *request.generation->bases;
  std::string text;
  text.reserve(request.kmers.size() * bases.k);
  for (const uint16_t kmer : request.kmers) text += kmer_text(kmer, bases.k);
  return text.substr(bases.given, bases.length);
}

Error not_finite(const SampleItem& item) {
  const Request& request = *item.requests.back();
  const size_t drawn = request.kmers.size();
  const NewBases& bases = *item.prompt->bases;
  const size_t base = bases.k * drawn - (drawn == 0 ? 0 : bases.given) + 1;
  return not_finite("generate", "logits at new base " + std::to_string(base) + " of " + item.prompt->name +
                                    ", sample " + std::to_string(item.sample + 1));
}

namespace {

// A sample of generate_bases(), with its requests.
struct Item {
  SampleItem sample;
  size_t index = 0;
  std::vector<RequestPtr> requests;

  size_t bytes() const { return sizeof(*this); }
};

}  // namespace

void generate_bases(Engine& engine, const GenerateOptions& options, std::span<const NumberedPrompt> prompts,
                    const std::function<void(size_t, const Continuation&)>& take) {
  if (options.length == 0) throw Error("generate", "expected at least one new base, not 0");
  const PromptPlanner planner(engine.config(), nullptr, options);
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        for (size_t i = 0; i < prompts.size(); ++i) {
          const FastaRecord record{std::to_string(prompts[i].record + 1), std::string(prompts[i].bases)};
          const auto prompt = std::make_shared<const Prompt>(planner.plan(prompts[i].record, record));
          emit_samples(prompt, {0, 1}, options.sampler, engine.devices(), [&](SampleItem sample) {
            Item item{std::move(sample), i, {}};
            item.requests.swap(item.sample.requests);
            emit(std::move(item));
          });
        }
      },
      [&](const Item& item) {
        const Request& request = *item.requests.back();
        if (request.outcome == Outcome::not_finite)
          throw not_finite("generate", "logits after " + item.sample.prompt->name);
        take(item.index, {new_bases(request), request.logp});
      });
}

}  // namespace carbon
