#include "src/generate/run.hpp"

#include <cstdio>

#include "src/base/error.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/generate/requests.hpp"
#include "src/generate/writer.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/metadata_tags.hpp"

namespace carbon {
namespace {

// Returns the ids of the metadata text. Known tags are built in; other text needs the model's BPE files.
std::vector<uint32_t> prefix_ids(const LoadedModel& model, const std::string& text) {
  const TokenLayout& layout = model.config().layout;
  if (text.empty()) return {};
  if (layout.first == 0)
    throw Error(
        "generate",
        "the model " + model.checkpoint().id() + " has a vocabulary of DNA alone and cannot read metadata",
        {"no_metadata"});
  for (const char* tag : {"<dna>", "</dna>"})
    if (text.find(tag) != std::string::npos)
      throw Error("generate",
                  std::string("the metadata text has ") + tag + " in it; give only the text before <dna>",
                  {"prefix"});
  if (layout.first == TokenLayout{}.first)
    if (std::optional<std::vector<uint32_t>> ids = known_tag_ids(text)) return *ids;
  const std::string& dir = model.checkpoint().dir();
  if (!Bpe::present(dir))
    throw Error("generate", "the metadata text '" + text + "' is not a known tag and " + dir +
                                " has no tokenizer files; put tokenizer.json, or vocab.json and merges.txt, "
                                "into this directory");
  return HybridTokenizer(layout, std::make_shared<const Bpe>(Bpe::load(dir))).encode(text).ids;
}

void check_draft(const LoadedModel& model, const LoadedModel& draft, const GenerateOptions& options) {
  const TokenLayout &ours = model.config().layout, &theirs = draft.config().layout;
  if (!options.prefix.empty() && (ours.first != theirs.first || ours.vocab_size != theirs.vocab_size))
    throw Error("generate",
                "the draft " + draft.checkpoint().id() + " has another text vocabulary than " +
                    model.checkpoint().id() +
                    " and cannot read the metadata; use a draft model with the same vocabulary, or "
                    "generate without metadata");
}

[[noreturn]] void not_finite(const SampleItem& item) {
  const Request& request = *item.requests.back();
  const size_t drawn = request.kmers.size();
  const size_t base = kKmerLength * drawn - (drawn == 0 ? 0 : item.prompt->bases->given) + 1;
  throw Error("generate", "non-finite logits at new base " + std::to_string(base) + " of " +
                              item.prompt->name + ", sample " + std::to_string(item.sample + 1) +
                              "; the checkpoint's weights or activations are not finite");
}

void read_prompts(const PromptPlanner& planner, const GenerateOptions& options, size_t devices,
                  const std::function<void(SampleItem)>& emit) {
  const auto plan = [&](Prompt prompt) {
    emit_samples(std::make_shared<const Prompt>(std::move(prompt)), options.samples, options.sampler, devices,
                 emit);
  };
  if (options.unconditional) return plan(planner.plan_unconditional());
  FastaReader reader(options.input);
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
  if (drafts) check_draft(model, drafts->front(), options);
  Engine engine(models.all(), drafts ? drafts->all() : std::vector<LoadedModel*>{}, {options.draft_tokens, {}});
  const PromptPlanner planner(model.config(), drafts ? &drafts->front().config() : nullptr,
                              prefix_ids(model, options.prefix), options);
  GenerateWriter writer(options);
  GenerateProgress progress(*options.log, options.progress);
  OrderedRun ordered;
  ordered.idle = [&] { writer.flush(); };
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
        if (request.outcome == Outcome::not_finite) not_finite(item);
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
