#include "src/score/run.hpp"

#include "src/base/counts.hpp"
#include "src/base/settings.hpp"
#include "src/engine/model_line.hpp"
#include "src/engine/output_run.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/files/output.hpp"
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
  write_standard_output(count_of(sequences, "sequence") + " of " + count_of(bases_in_all, "base") + " in " +
                        count_of(estimate.windows(), "window") + " with " +
                        count_of(estimate.tokens(), "token") + "\n" +
                        estimate.measure(engine, estimate.tokens()).text + "\n");
}

// Settings name variables, and these only read them.
Settings settings_of(ScoreOptions options) {
  return setting_values(score_settings(options));
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const ScoreOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.emplace("output-type", word_of(kScoreOutputWords, score_output_type(options)));
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const ScoreOptions& options) {
  return provenance_lines("score", options.record,
                          {model_line("score", "logp", model, header_text(settings_of(options)))});
}

// A sequence or region in one line, for comparing the input of two runs.
std::string place_text(const SequencePlace& place) {
  return place.name + ":" + std::to_string(place.begin) + "-" + std::to_string(place.end);
}

}  // namespace

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  complete_score_options(options, config.sequence_positions(), config.layout.bases());
  options.inputs.in_order = score_output_type(options) == ScoreOutput::bedgraph;
  if (options.estimate) return estimate_score(engine, options);

  const SequenceRunInfo run{{"score", "sequence"},
                            [&] { return run_identity(engine.model(), options); },
                            options.earlier,
                            [&] { return header_lines(engine.model(), options); }};
  ScoreWriter writer(options, run);
  ScoreAssembler assembler(options, config.layout.bases(), writer);
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
      {"score", [&] { return count_of(sequences, "sequence"); }, *options.log, options.stop,
       flush_for_reader},
      writer, progress,
      [&](const std::function<void(ScoredWindow)>& emit) {
        read_further_sequences(
            "score", options.inputs, *options.log, writer.continued(), place_text,
            [&](SequencePlace place, const std::string&, const std::string& bases,
                const SequencesDone& read) { planner.plan(std::move(place), bases, emit, read); },
            [&](const SequenceTotals& totals) { progress.set_total(totals.bases); });
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
