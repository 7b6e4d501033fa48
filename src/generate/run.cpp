#include "src/generate/run.hpp"

#include "src/base/counts.hpp"
#include "src/base/numbers.hpp"
#include "src/base/settings.hpp"
#include "src/engine/model_line.hpp"
#include "src/engine/output_run.hpp"
#include "src/generate/bounds.hpp"
#include "src/generate/requests.hpp"
#include "src/generate/writer.hpp"

namespace carbon {
namespace {

// The bases of a prompt and of its constraint, for comparing the input of two runs.
std::string text_of(const Prompt& prompt) {
  const std::vector<BaseSet>& sets = prompt.bases->sets;
  return prompt.sequence + "\n" + std::string(sets.begin(), sets.end());
}

void read_prompts(const PromptPlanner& planner, const GenerateOptions& options, size_t devices,
                  SequencesRead& read, const std::function<void(SampleItem)>& emit) {
  const auto plan = [&](Prompt prompt) {
    if (!read.next(prompt.name, text_of(prompt))) return;
    prompt.done = read.done();
    emit_samples(std::make_shared<const Prompt>(std::move(prompt)),
                 {static_cast<size_t>(read.parts_written()), options.samples}, options.sampler, devices,
                 emit);
  };
  if (options.unconditional) return plan(planner.plan_unconditional());
  FastaReader reader(options.input, *options.log);
  uint64_t record = 0;
  for (FastaRecord fasta; reader.next(fasta); ++record) plan(planner.plan(record, fasta));
  read.finish();
}

// What the new bases depend on besides the prompts, a file of constraints and the model. A draft changes no
// byte.
Settings settings_of(const GenerateOptions& options) {
  const SamplerOptions& sampler = options.sampler;
  Settings settings = {{"length", std::to_string(options.length)},
                       {"sampler", word_of(kSamplerWords, sampler.kind)}};
  if (sampler.greedy) {
    settings.emplace_back("greedy", "yes");
  } else {
    settings.emplace_back("temperature", shortest_text(sampler.temperature));
    settings.emplace_back("top-k", std::to_string(sampler.top_k));
    settings.emplace_back("top-p", shortest_text(sampler.top_p));
    settings.emplace_back("seed", std::to_string(sampler.seed));
  }
  settings.emplace_back("constraint", !options.constraint_file.empty() ? "file"
                                      : options.constraint.empty()     ? "none"
                                                                       : options.constraint);
  settings.emplace_back("bounds", bounds_text(options.bounds));
  return settings;
}

// Everything that the output depends on, except the prompts and their constraints, which are compared one by
// one.
RunIdentity run_identity(const LoadedModel& model, const GenerateOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.erase("constraint");  // by its letters, with the prompts
  run.merge(RunIdentity{{"samples", std::to_string(options.samples)},
                        {"include-prompt", options.include_prompt ? "yes" : "no"},
                        {"line-length", std::to_string(options.line_length)}});
  return run;
}

std::vector<std::string> provenance(const LoadedModel& model, const GenerateOptions& options) {
  return provenance_lines("generate", options.record,
                          {model_line("generate", "sequences", model, header_text(settings_of(options)))});
}

void report_draft(const DraftCounts& counts, Log& log) {
  const auto per = [](double a, uint64_t b) { return b > 0 ? a / static_cast<double>(b) : 0.0; };
  log.message(
      "generate",
      "draft: " + std::to_string(counts.drafted) + " 6-mers drafted, " + std::to_string(counts.tested) +
          " tested, " + std::to_string(counts.accepted) + " accepted (" +
          fixed_text(100 * per(static_cast<double>(counts.accepted), counts.tested), 1) + " %); " +
          fixed_text(1e3 * per(counts.draft_seconds, counts.steps), 3) + " ms per draft step, " +
          fixed_text(1e3 * per(counts.target_seconds, counts.rounds), 3) + " ms per round of the target");
}

}  // namespace

void run_generate(LoadedModels& models, LoadedModels* drafts, const GenerateOptions& options) {
  const LoadedModel& model = models.front();
  if (drafts)
    check_draft(model.checkpoint(), drafts->front().checkpoint(), !model.checkpoint().metadata().empty());
  Engine engine(models.all(), drafts ? drafts->all() : std::vector<LoadedModel*>{},
                {options.draft_tokens, {}});
  const PromptPlanner planner(model.config(), drafts ? &drafts->front().config() : nullptr, options);
  const SequenceRunInfo run{
      {"generate", "sample"}, [&] { return run_identity(model, options); }, options.earlier};
  GenerateWriter writer(options, run, [&] { return provenance(model, options); });
  SequencesRead read(writer.continued());
  GenerateProgress progress(*options.log, options.progress, model.config().layout.bases());
  uint64_t samples = writer.continued() ? samples_in(*writer.continued(), options.samples) : 0;
  run_to_output<SampleItem>(
      engine,
      {"generate", [&] { return count_of(samples, "sample"); }, *options.log, options.stop,
       [&] { writer.flush_for_reader(); }},
      writer, progress,
      [&](const std::function<void(SampleItem)>& emit) {
        read_prompts(planner, options, engine.devices(), read, [&](SampleItem item) {
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
        ++samples;
        progress.written(request.kmers.size(), item.prompt->bases->length, item.prompt->name);
      });
  if (const std::optional<DraftCounts> counts = engine.draft_counts()) report_draft(*counts, *options.log);
}

}  // namespace carbon
