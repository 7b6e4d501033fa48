#include "src/verbs/generate.hpp"

#include <cmath>
#include <utility>

#include "src/generate/requests.hpp"
#include "src/model/model_use.hpp"
#include "src/sampling/base_scores.hpp"
#include "src/verbs/fields.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// The memory that the samples of one prompt may take is not bounded by anything else.
constexpr int64_t kMostSamples = 1'000'000;

// The request for the probabilities of the bases of a finished sample. The first row is that of the last
// token before the new 6-mers, and the last new 6-mer is no input.
RequestPtr sample_marginals(const Prompt& prompt, const Request& sample, const TokenLayout& layout) {
  const auto request = std::make_shared<Request>();
  request->tokens = prompt.context;
  for (const uint16_t kmer : sample.kmers) request->tokens.push_back(layout.kmer_id(kmer));
  request->tokens.pop_back();
  request->head = HeadKind::marginals;
  request->want_begin = prompt.context.size() - 1;
  return request;
}

class Samples final : public GenerateVerb {
 public:
  Samples(const VerbContext& context, GenerateOptions options, std::string prefix, bool probabilities)
      : context_(context),
        served_(context.served),
        options_(std::move(options)),
        prefix_(std::move(prefix)),
        probabilities_(probabilities) {}

  const GenerateOptions& options() const override { return options_; }
  bool gives_probabilities() const override { return probabilities_; }

  void add(size_t index, const std::string& name, std::string_view text, const Emit& emit) override {
    const DnaText prompt{prefix_, checked_bases(name, text, context_.note)};
    const auto planned = std::make_shared<const Prompt>(plan_prompt(served_, prompt, index, options_));
    bool first = true;
    emit_samples(planned, {0, options_.samples}, options_.sampler, served_.devices(), [&](SampleItem item) {
      const auto kept = std::make_shared<SampleItem>(std::move(item));
      emit({kept->requests, [this, kept](Findings& findings) { take(kept, findings); },
            !std::exchange(first, false)});
    });
  }

 private:
  void take(const std::shared_ptr<SampleItem>& item, Findings& findings) const {
    const Request& sample = *item->requests.back();
    if (sample.outcome == Outcome::not_finite) throw not_finite(*item);
    if (!probabilities_) return findings.results.push_back(result_of(sample));
    const RequestPtr marginals = sample_marginals(*item->prompt, sample, served_.config().layout);
    findings.next.push_back({{marginals}, [this, item, marginals](Findings& later) {
                               Result result = result_of(*item->requests.back());
                               result.push_back(probabilities_of(*item->prompt, *marginals));
                               later.results.push_back(std::move(result));
                             }});
  }

  static Result result_of(const Request& sample) {
    Result result;
    result.emplace_back("sequence", new_bases(sample));
    result.emplace_back("logp", sample.logp);
    return result;
  }

  Array probabilities_of(const Prompt& prompt, const Request& marginals) const {
    const size_t given = prompt.bases->given;
    std::vector<double> values;
    values.reserve(options_.length * ops::kLetters);
    for (size_t i = 0; i < options_.length; ++i) {
      const double* const logs = base_logs(marginals.values(), given + i);
      for (const size_t digit : kOutputOrder) values.push_back(std::exp(logs[digit]));
    }
    return {"probabilities", std::move(values), {options_.length, ops::kLetters}};
  }

  const VerbContext context_;
  const ServedModel& served_;
  const GenerateOptions options_;
  const std::string prefix_;
  const bool probabilities_;
};

}  // namespace

ModelConfig config_for(const DnaText& text, const ServedModel& served) {
  return with_metadata(served.config(),
                       prefix_ids(served.model().checkpoint(), text.metadata, &served.tokenizer()));
}

Prompt plan_prompt(const ServedModel& served, const SentPrompt& prompt, uint64_t record,
                   const GenerateOptions& options) {
  const std::string name = std::to_string(record + 1);
  const ModelConfig* const draft = served.draft() ? &served.draft()->config() : nullptr;
  const auto* const text = std::get_if<DnaText>(&prompt);
  if (!text)
    return PromptPlanner(served.config(), draft, options)
        .plan_ids(record, name, std::get<std::vector<uint32_t>>(prompt));
  if (served.draft())
    check_draft(served.model().checkpoint(), served.draft()->checkpoint(), !text->metadata.empty());
  const PromptPlanner planner(config_for(*text, served), draft, options);
  if (!text->bases.empty()) return planner.plan(record, {name, text->bases});
  Prompt empty = planner.plan_unconditional();
  empty.record = record;
  return empty;
}

SettingList generate_verb_settings(GenerateOptions& options, std::string& prefix, bool& probabilities) {
  SettingList settings = generate_settings(options);
  settings.push_back(Setting("prefix", "TEXT", "metadata, in place of that of the model", &prefix)
                         .not_at(Door::plugin, "-m and its options say it"));
  settings.push_back(Setting("probabilities",
                             "also give the probabilities of the four letters at each new base",
                             probabilities)
                         .not_at(Door::command, "carbon score -O tsv has them")
                         .not_at(Door::plugin, "an item has no room for them"));
  return settings;
}

void describe_generate(const std::function<void(const SettingList&)>& see) {
  GenerateOptions options;
  std::string prefix;
  bool probabilities = false;
  see(generate_verb_settings(options, prefix, probabilities));
}

std::unique_ptr<Verb> make_generate_verb(const VerbContext& context, const ReadSettings& read) {
  GenerateOptions options;
  std::string prefix = context.served.model().checkpoint().metadata();
  bool probabilities = false;
  read(generate_verb_settings(options, prefix, probabilities));
  check_generate_options(options);
  if (options.samples > static_cast<size_t>(kMostSamples))
    throw SettingError("generate", "num",
                       "num must be a whole number from 1 to " + std::to_string(kMostSamples));
  return std::make_unique<Samples>(context, std::move(options), std::move(prefix), probabilities);
}

}  // namespace carbon
