#include "src/score/run.hpp"

#include "src/engine/output_run.hpp"
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

// Everything that the output depends on, except the sequences, which are compared one by one.
RunIdentity run_identity(const LoadedModel& model, const ScoreOptions& options) {
  RunIdentity run = identity_of(model);
  run.merge(RunIdentity{{"output-type", word_of(kScoreOutputWords, score_output_type(options))},
                        {"level", word_of(kScoreLevelWords, options.level)},
                        {"strand", word_of(kStrandWords, options.strand)},
                        {"window", std::to_string(options.window)},
                        {"stride", std::to_string(options.stride)}});
  return run;
}

// A sequence or region in one line, for comparing the input of two runs.
std::string place_text(const SequencePlace& place) {
  return place.name + ":" + std::to_string(place.begin) + "-" + std::to_string(place.end);
}

}  // namespace

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  complete_score_options(options, config.sequence_positions());
  options.inputs.in_order = score_output_type(options) == ScoreOutput::bedgraph;
  if (options.estimate) return estimate_score(engine, options);

  const SequenceRunInfo run{
      {"score", "sequences"}, [&] { return run_identity(engine.model(), options); }, options.earlier};
  ScoreWriter writer(options, run);
  SequencesRead read(writer.continued());
  ScoreAssembler assembler(options, writer);
  Progress progress(*options.log, options.progress, "score", "bp");
  uint64_t done = writer.continued() ? writer.continued()->bases : 0;
  progress.begin_at(done);
  const ScorePlanner planner(config.layout, options);
  // A heading alone is kept back, because there may be no input.
  const auto flush_for_reader = [&] {
    if (done > 0) writer.flush_for_reader();
  };
  uint64_t sequences = writer.continued() ? writer.continued()->count : 0;
  run_to_output<ScoredWindow>(
      engine,
      {"score", [&] { return std::to_string(sequences) + " sequences"; }, *options.log, options.stop,
       flush_for_reader},
      writer, progress,
      [&](const std::function<void(ScoredWindow)>& emit) {
        read_sequences(
            "score", options.inputs, *options.log,
            [&](SequencePlace place, const std::string& bases) {
              if (!read.next(place_text(place), bases)) return;
              planner.plan(std::move(place), bases, emit, read.done());
            },
            [&](const SequenceTotals& totals) { progress.set_total(totals.bases); });
        read.finish();
      },
      [&](const ScoredWindow& item) {
        assembler.consume(item);
        if (item.last) {
          ++sequences;
          writer.end_sequence(item.sequence->done);
        }
        done += item.window.end - item.window.take;
        progress.update(done, item.sequence->place.name);
      });
}

}  // namespace carbon
