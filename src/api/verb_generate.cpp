// generate: samples of new bases after prompts, as `carbon generate` draws them. Prompt i has the draws of
// record i of a FASTA.
#include <cmath>
#include <utility>

#include "src/api/verb.hpp"
#include "src/generate/requests.hpp"
#include "src/marginals/base_scores.hpp"
#include "src/serve/dna_generate.hpp"
#include "src/serve/prompts.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon::api {
namespace {

// The memory that the samples of one prompt may take is not bounded by anything else.
constexpr size_t kMostSamples = 1'000'000;

class GenerateVerb final : public Verb {
 public:
  GenerateVerb(const ServedModel& served, GenerateOptions options, std::string prefix, bool probabilities,
               Log& log)
      : served_(served),
        options_(std::move(options)),
        prefix_(std::move(prefix)),
        probabilities_(probabilities),
        log_(log) {}

  void add(size_t index, std::string_view text, const Emit& emit) override {
    const DnaText prompt{prefix_, input_bases(input_name("prompts", index), text, log_)};
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

  const ServedModel& served_;
  GenerateOptions options_;
  std::string prefix_;
  bool probabilities_;
  Log& log_;
};

}  // namespace

std::unique_ptr<Verb> make_generate_verb(const ServedModel& served, const Fields& fields, Log& log) {
  GenerateOptions options = read_generate_options(fields, kMostSamples);
  // In place of that of the model.
  std::string prefix = fields.text("prefix", served.model().checkpoint().metadata());
  const bool probabilities = fields.flag("probabilities", false);
  return std::make_unique<GenerateVerb>(served, std::move(options), std::move(prefix), probabilities, log);
}

}  // namespace carbon::api
