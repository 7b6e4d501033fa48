#include "src/embed/run.hpp"

#include "src/base/settings.hpp"
#include "src/embed/planner.hpp"
#include "src/embed/writer.hpp"
#include "src/engine/model_line.hpp"
#include "src/engine/output_run.hpp"

namespace carbon {
namespace {

// What the values depend on besides the sequences and the model.
Settings settings_of(const EmbedOptions& options, const TokenLayout& layout) {
  return {{"pool", word_of(kPoolWords, pool_of(options.pooling, layout))},
          {"layer", std::to_string(options.layer)},
          {"strand", word_of(kStrandWords, options.strand)},
          {"pad-tail", options.pooling.pad_tail ? "yes" : "no"},
          {"dtype-out", dtype_name(options.dtype)}};
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const EmbedOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options, model.config().layout)) run.emplace(name, value);
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const EmbedOptions& options) {
  const Settings settings = settings_of(options, model.config().layout);
  return provenance_lines("embed", options.record,
                          {model_line("embed", "embeddings", model, header_text(settings))});
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
  run_sequences<EmbedItem>(
      engine, "embed", options, *writer,
      [&](const std::function<void(EmbedItem)>& emit, Progress& progress) {
        read_further_sequences(
            "embed", options.inputs, *options.log, writer->continued(),
            [&](const SequencePlace& place) { return shown_name(place, options.inputs.has_regions()); },
            [&](const SequencePlace&, const std::string& name, const std::string& bases,
                const SequencesDone& done) {
              EmbedItem item = planner.plan(name, bases);
              item.done = done;
              emit(std::move(item));
            },
            [&](const SequenceTotals& totals) { progress.set_total(totals.sequences); });
      },
      [&](EmbedItem& item) { writer->write(item.name, take_rows(item, options.dtype)); });
}

}  // namespace carbon
