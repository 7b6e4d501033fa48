#include "src/score/run.hpp"

#include "src/engine/ordered_writer.hpp"
#include "src/score/assembler.hpp"
#include "src/score/planner.hpp"
#include "src/score/writer.hpp"

namespace carbon {

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  complete_score_options(options, config.sequence_positions());
  options.inputs.in_order = options.type == ScoreOutput::bedgraph;

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
