#include "src/serve/dna_score.hpp"

#include <optional>
#include <utility>

#include "src/base/numbers.hpp"
#include "src/score/assembler.hpp"
#include "src/score/collector.hpp"
#include "src/score/planner.hpp"
#include "src/score/windows.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/item_batches.hpp"
#include "src/serve/model_work.hpp"

namespace carbon {

ScoreOptions read_score_options(const Fields& fields, const ModelConfig& config) {
  ScoreOptions options;
  options.strand = read_strand(fields, options.strand);
  options.level = fields.choice("level", options.level, kScoreLevelWords);
  options.window = read_bp(fields, "window");
  options.stride = read_bp(fields, "stride");
  if (options.level == ScoreLevel::token && options.strand == StrandChoice::both)
    fields.fail("strand", "must be '+' or '-' for level 'token', which has one value a 6-mer");
  complete_score_options(options, config.sequence_positions(), config.layout.bases());
  return options;
}

namespace {

class DnaScore final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void begin(const Fields& fields) override {
    const std::vector<std::string> sequences = sent_sequences(fields, service().limits());
    const ScoreOptions options = read_score_options(fields, served().config());
    fields.refuse_others();
    tell(fields);
    check_windows(sequences, options);
    const size_t bases = served().config().layout.bases();
    collector_.emplace(options.level, bases);
    assembler_.emplace(options, bases, *collector_);
    const ScorePlanner planner(served().config().layout, options);
    for (size_t i = 0; i < sequences.size(); ++i)
      planner.plan({"sequences[" + std::to_string(i) + "]", 0, static_cast<int64_t>(sequences[i].size())},
                   sequences[i], [&](ScoredWindow window) { windows_.add(std::move(window)); });
    run(windows_.begin(result_sizes(served().config())));
  }

  void check_windows(const std::vector<std::string>& sequences, const ScoreOptions& options) {
    size_t bases = 0;
    for (const std::string& sequence : sequences)
      for (const SlidingWindow& window : sliding_windows(sequence.size(), options.window, options.stride))
        bases += window.end - window.begin;
    check_reads(bases, service().limits(), "stride");
  }

  void finished() override {
    for (const ScoredWindow& window : windows_.end()) {
      assembler_->consume(window);
      if (window.last) add_result();
    }
    if (!windows_.done()) return run(windows_.begin(result_sizes(served().config())));
    answer_read(windows_.tokens(), std::move(answer_) + "]}");
  }

  void add_result() {
    const SequenceScores scores = collector_->take();
    answer_ += answer_.back() == '[' ? "{\"n_scored\":" : ",{\"n_scored\":";
    append_integer(scores.scored, answer_);
    answer_ += ",\"sum_logp\":";
    append_json(scores.sum, answer_);
    answer_ += ",\"mean_logp\":";
    // Of no scores it is not a number, and so null.
    append_json(scores.sum / static_cast<double>(scores.scored), answer_);
    answer_ += ",\"logp\":[";
    for (size_t i = 0; i < scores.values.size(); ++i) {
      if (i > 0) answer_ += ',';
      append_json(scores.values[i], answer_);
    }
    answer_ += "]}";
  }

  std::optional<ScoreCollector> collector_;
  std::optional<ScoreAssembler> assembler_;
  ItemBatches<ScoredWindow> windows_;
  std::string answer_ = "{\"results\":[";  // as far as it is known
};

}  // namespace

WorkPtr make_dna_score(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaScore>(served, std::move(exchange));
}

}  // namespace carbon
