#include "src/score/run.hpp"

#include "src/engine/ordered_writer.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/score/assembler.hpp"
#include "src/score/planner.hpp"
#include "src/score/writer.hpp"

namespace carbon {
namespace {

// Says what the run would take, after planning all windows and running some.
void estimate_score(Engine& engine, const ScoreOptions& options) {
  const ScorePlanner planner(engine.config().layout, options);
  RunEstimate estimate;
  uint64_t sequences = 0, bases_in_all = 0;
  read_sequences(
      "score", options.inputs, *options.log,
      [&](SequencePlace place, const std::string& bases) {
        ++sequences;
        bases_in_all += bases.size();
        planner.plan(std::move(place), bases,
                     [&](const ScoredWindow& window) { estimate.add(window.requests); });
      },
      [](const SequenceTotals&) {});
  options.log->message("score", std::to_string(sequences) + " sequences of " + std::to_string(bases_in_all) +
                                    " bases in " + std::to_string(estimate.windows()) + " windows with " +
                                    std::to_string(estimate.tokens()) + " tokens");
  options.log->message("score", estimate.measure(engine, estimate.tokens()));
}

}  // namespace

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  complete_score_options(options, config.sequence_positions());
  options.inputs.in_order = options.type == ScoreOutput::bedgraph;
  if (options.estimate) return estimate_score(engine, options);

  ScoreWriter writer(options.output, options.type, options.strand);
  ScoreAssembler assembler(options, writer);
  Progress progress(*options.log, options.progress, "score", "bp");
  uint64_t done = 0;
  const ScorePlanner planner(config.layout, options);
  OrderedRun ordered;
  // A heading alone is kept back, because there may be no input.
  ordered.idle = [&] {
    if (done > 0) writer.pass_on();
  };
  run_ordered<ScoredWindow>(
      engine,
      [&](const std::function<void(ScoredWindow)>& emit) {
        read_sequences(
            "score", options.inputs, *options.log,
            [&](SequencePlace place, const std::string& bases) {
              planner.plan(std::move(place), bases, emit);
            },
            [&](const SequenceTotals& totals) { progress.set_total(totals.bases); });
      },
      [&](const ScoredWindow& item) {
        assembler.consume(item);
        done += item.window.end - item.window.take;
        progress.update(done, item.sequence->place.name);
      },
      ordered);
  progress.finish();
  report_passes(engine);
  writer.close();
}

}  // namespace carbon
