// score: log-probabilities of the bases of sequences, as `carbon score` computes them. A result has n_scored,
// sum_logp, mean_logp and logp (a value a base, or a 6-mer), and if asked for probabilities [bases, 4] and
// entropy [bases].
#include <cmath>
#include <limits>
#include <utility>

#include "src/sampling/base_scores.hpp"
#include "src/score/assembler.hpp"
#include "src/score/planner.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
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
  ScoreVerb(const VerbContext& context, const ScoreOptions& options, bool letters)
      : context_(context),
        options_(options),
        planner_(context.served.config().layout, options),
        collector_(options.level, context.served.config().layout.bases(), letters),
        assembler_(options, context.served.config().layout.bases(), collector_) {}

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    const std::string bases = checked_bases(name, text, context_.note);
    planner_.plan({name, 0, static_cast<int64_t>(bases.size())}, bases, [&](ScoredWindow window) {
      const auto kept = std::make_shared<ScoredWindow>(std::move(window));
      emit({kept->requests, [this, kept](Findings& findings) {
              assembler_.consume(*kept);
              if (kept->last) findings.results.push_back(collector_.take());
            }});
    });
  }

  WindowBases windows(size_t bases) const override {
    WindowBases all{0, "stride"};
    for (const SlidingWindow& window : sliding_windows(bases, options_.window, options_.stride))
      all.bases += window.end - window.begin;
    return all;
  }

 private:
  const VerbContext context_;
  const ScoreOptions options_;
  ScorePlanner planner_;
  LetterCollector collector_;
  ScoreAssembler assembler_;
};

}  // namespace

SettingList score_verb_settings(ScoreOptions& options, bool& letters) {
  SettingList settings = score_settings(options);
  settings.push_back(
      Setting("probabilities",
              "also give the probabilities of the four letters at each base, and their entropy", letters)
          .not_at(Door::command, "-O tsv has them")
          .not_at(Door::plugin, "an item has no room for them"));
  return settings;
}

void describe_score(const std::function<void(const SettingList&)>& see) {
  ScoreOptions options;
  bool letters = false;
  see(score_verb_settings(options, letters));
}

std::unique_ptr<Verb> make_score_verb(const VerbContext& context, const ReadSettings& read) {
  ScoreOptions options;
  bool letters = false;
  read(score_verb_settings(options, letters));
  if (letters && options.level == ScoreLevel::token)
    throw SettingError("score", "probabilities",
                       "probabilities cannot be used with level 'token', which has one value a 6-mer");
  const ModelConfig& config = context.served.config();
  complete_score_options(options, config.sequence_positions(), config.layout.bases());
  return std::make_unique<ScoreVerb>(context, options, letters);
}

}  // namespace carbon
