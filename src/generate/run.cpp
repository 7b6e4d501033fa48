#include "src/generate/run.hpp"

#include <cstdio>

#include "src/engine/ordered_writer.hpp"
#include "src/generate/requests.hpp"
#include "src/generate/writer.hpp"
#include "src/model/metadata.hpp"

namespace carbon {
namespace {

void read_prompts(const PromptPlanner& planner, const GenerateOptions& options, size_t devices,
                  const std::function<void(SampleItem)>& emit) {
  const auto plan = [&](Prompt prompt) {
    emit_samples(std::make_shared<const Prompt>(std::move(prompt)), options.samples, options.sampler, devices,
                 emit);
  };
  if (options.unconditional) return plan(planner.plan_unconditional());
  FastaReader reader(options.input, *options.log);
  uint64_t record = 0;
  for (FastaRecord fasta; reader.next(fasta); ++record) plan(planner.plan(record, fasta));
}

void report_draft(const DraftCounts& counts, Log& log) {
  char text[300];
  const auto per = [](double a, uint64_t b) { return b > 0 ? a / static_cast<double>(b) : 0.0; };
  std::snprintf(
      text, sizeof text,
      "draft: %llu 6-mers drafted, %llu tested, %llu accepted (%.1f %%); %.3f ms per draft step, %.3f "
      "ms per round of the target",
      static_cast<unsigned long long>(counts.drafted), static_cast<unsigned long long>(counts.tested),
      static_cast<unsigned long long>(counts.accepted),
      100 * per(static_cast<double>(counts.accepted), counts.tested),
      1e3 * per(counts.draft_seconds, counts.steps), 1e3 * per(counts.target_seconds, counts.rounds));
  log.message("generate", text);
}

}  // namespace

void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options) {
  const LoadedModel& model = models.front();
  if (drafts) check_draft(model.checkpoint(), drafts->front().checkpoint(), options.prefix);
  Engine engine(models.all(), drafts ? drafts->all() : std::vector<LoadedModel*>{},
                {options.draft_tokens, {}});
  const PromptPlanner planner(model.config(), drafts ? &drafts->front().config() : nullptr,
                              prefix_ids(model.checkpoint(), options.prefix), options);
  GenerateWriter writer(options);
  GenerateProgress progress(*options.log, options.progress);
  OrderedRun ordered;
  ordered.idle = [&] { writer.pass_on(); };
  run_ordered<SampleItem>(
      engine,
      [&](const std::function<void(SampleItem)>& emit) {
        read_prompts(planner, options, engine.devices(), [&](SampleItem item) {
          item.requests.back()->progressed = [&progress, prompt = item.prompt](const Request&, size_t kmers) {
            progress.drawn(kmers, prompt->name);
          };
          emit(std::move(item));
        });
      },
      [&](const SampleItem& item) {
        const Request& request = *item.requests.back();
        if (request.outcome == Outcome::not_finite) throw not_finite(item);
        writer.write(*item.prompt, item.sample, new_bases(request), request.logp);
        progress.written(request.kmers.size(), item.prompt->bases->length, item.prompt->name);
      },
      ordered);
  progress.finish();
  report_passes(engine);
  writer.close();
  if (const std::optional<DraftCounts> counts = engine.draft_counts()) report_draft(*counts, *options.log);
}

}  // namespace carbon
