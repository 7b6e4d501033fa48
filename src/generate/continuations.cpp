#include "src/generate/continuations.hpp"

#include "src/base/error.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/generate/requests.hpp"

namespace carbon {
namespace {

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
