#include "src/embed/run.hpp"

#include "src/base/counts.hpp"
#include "src/base/settings.hpp"
#include "src/embed/planner.hpp"
#include "src/embed/writer.hpp"
#include "src/engine/model_line.hpp"
#include "src/engine/output_run.hpp"

namespace carbon {
namespace {

// What the values depend on besides the sequences and the model.
Settings settings_of(const EmbedOptions& options) {
  return {{"pool", word_of(kPoolWords, options.pooling.pool)},
          {"layer", std::to_string(options.layer)},
          {"strand", word_of(kStrandWords, options.strand)},
          {"pad-tail", options.pooling.pad_tail ? "yes" : "no"},
          {"dtype-out", dtype_name(options.dtype)}};
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const EmbedOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const EmbedOptions& options) {
  return provenance_lines("embed", options.record,
                          {model_line("embed", "embeddings", model, header_text(settings_of(options)))});
}

}  // namespace

void run_embed(Engine& engine, const EmbedOptions& options) {
  const ModelConfig& config = engine.config();
  check_embed_options(options);
  const EmbedPlanner planner(config, options);
  const SequenceRunInfo run{{"embed", "sequence"},
                            [&] { return run_identity(engine.model(), options); },
                            options.earlier,
                            [&] { return header_lines(engine.model(), options); }};
  const auto writer = make_embed_writer(options, run, config.hidden);
  SequencesRead read(writer->continued());
  Progress progress(*options.log, options.progress, "embed", "sequences");
  uint64_t done = writer->continued() ? writer->continued()->count : 0;
  progress.begin_at(done);
  // A heading alone is kept back, because there may be no input.
  const auto flush_for_reader = [&] {
    if (done > 0) writer->flush_for_reader();
  };
  run_to_output<EmbedItem>(
      engine,
      {"embed", [&] { return count_of(done, "sequence"); }, *options.log, options.stop, flush_for_reader},
      *writer, progress,
      [&](const std::function<void(EmbedItem)>& emit) {
        read_sequences(
            "embed", options.inputs, *options.log,
            [&](const SequencePlace& place, const std::string& bases) {
              const std::string name = shown_name(place, options.inputs.has_regions());
              if (!read.next(name, bases)) return;
              EmbedItem item = planner.plan(name, bases);
              item.done = read.done();
              emit(std::move(item));
            },
            [&](const SequenceTotals& totals) { progress.set_total(totals.sequences); });
        read.finish();
      },
      [&](EmbedItem& item) {
        writer->write(item.name, take_rows(item, options.dtype));
        writer->end_sequence(item.done);
        progress.update(++done, item.name);
      });
}

}  // namespace carbon
