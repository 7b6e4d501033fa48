// score: log-probabilities of the bases of sequences, as `carbon score` computes them.
#include <cmath>
#include <limits>
#include <utility>

#include "src/api/verb.hpp"
#include "src/marginals/base_scores.hpp"
#include "src/score/assembler.hpp"
#include "src/score/collector.hpp"
#include "src/score/planner.hpp"
#include "src/serve/dna_score.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon::api {
namespace {

// Keeps the probabilities of the four letters beside the scores.
class LetterCollector final : public ScoreSink {
 public:
  LetterCollector(ScoreLevel level, size_t bases, bool letters) : scores_(level, bases), wanted_(letters) {}

  void begin(const SequencePlace& sequence) override {
    scores_.begin(sequence);
    const auto bases = static_cast<size_t>(sequence.end - sequence.begin);
    probabilities_.assign(wanted_ ? bases * ops::kLetters : 0, std::numeric_limits<double>::quiet_NaN());
    entropies_.assign(wanted_ ? bases : 0, std::numeric_limits<double>::quiet_NaN());
  }
  void value(const ScoredValue& value) override {
    scores_.value(value);
    if (!wanted_) return;
    const auto at = static_cast<size_t>(value.begin);
    entropies_[at] = entropy(value.letters);
    size_t column = at * ops::kLetters;
    for (const size_t digit : kOutputOrder) probabilities_[column++] = std::exp(value.letters[digit]);
  }
  void end() override {}

  Result take() {
    SequenceScores scores = scores_.take();
    const size_t n = scores.values.size();
    Result result;
    result.emplace_back("n_scored", static_cast<int64_t>(scores.scored));
    result.emplace_back("sum_logp", scores.sum);
    result.emplace_back("mean_logp", scores.sum / static_cast<double>(scores.scored));
    result.emplace_back("logp", std::move(scores.values), std::initializer_list<size_t>{n});
    if (!wanted_) return result;
    result.emplace_back("probabilities", std::move(probabilities_),
                        std::initializer_list<size_t>{n, ops::kLetters});
    result.emplace_back("entropy", std::move(entropies_), std::initializer_list<size_t>{n});
    return result;
  }

 private:
  ScoreCollector scores_;
  const bool wanted_;
  std::vector<double> probabilities_, entropies_;
};

class ScoreVerb final : public Verb {
 public:
  ScoreVerb(const ServedModel& served, const ScoreOptions& options, bool letters, Log& log)
      : log_(log),
        planner_(served.config().layout, options),
        collector_(options.level, served.config().layout.bases(), letters),
        assembler_(options, served.config().layout.bases(), collector_) {}

  void add(size_t index, std::string_view text, const Emit& emit) override {
    const std::string name = input_name("sequences", index);
    const std::string bases = input_bases(name, text, log_);
    planner_.plan({name, 0, static_cast<int64_t>(bases.size())}, bases, [&](ScoredWindow window) {
      const auto kept = std::make_shared<ScoredWindow>(std::move(window));
      emit({kept->requests, [this, kept](Findings& findings) {
              assembler_.consume(*kept);
              if (kept->last) findings.results.push_back(collector_.take());
            }});
    });
  }

 private:
  Log& log_;
  ScorePlanner planner_;
  LetterCollector collector_;
  ScoreAssembler assembler_;
};

}  // namespace

std::unique_ptr<Verb> make_score_verb(const ServedModel& served, const Fields& fields, Log& log) {
  const ScoreOptions options = read_score_options(fields, served.config());
  const bool letters = fields.flag("probabilities", false);
  if (letters && options.level == ScoreLevel::token)
    fields.fail("probabilities", "cannot be used with level 'token', which has one value a 6-mer");
  return std::make_unique<ScoreVerb>(served, options, letters, log);
}

}  // namespace carbon::api
