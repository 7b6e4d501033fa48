#include "src/embed/run.hpp"

#include "src/embed/planner.hpp"
#include "src/embed/writer.hpp"
#include "src/engine/ordered_writer.hpp"

namespace carbon {
namespace {

// The name of a sequence, or of a region in the form that samtools faidx uses.
std::string shown_name(const SequencePlace& place, bool is_region) {
  if (!is_region) return place.name;
  return place.name + ":" + std::to_string(place.begin + 1) + "-" + std::to_string(place.end);
}

}  // namespace

void run_embed(Engine& engine, const EmbedOptions& options) {
  const ModelConfig& config = engine.config();
  check_embed_options(options);
  const EmbedPlanner planner(config, options);
  const auto writer = make_embed_writer(options, config.hidden);
  Progress progress(*options.log, options.progress, "embed", "sequences");
  uint64_t done = 0;
  OrderedRun ordered;
  // A heading alone is kept back, because there may be no input.
  ordered.idle = [&] {
    if (done > 0) writer->pass_on();
  };
  run_ordered<EmbedItem>(
      engine,
      [&](const std::function<void(EmbedItem)>& emit) {
        read_sequences(
            "embed", options.inputs, *options.log,
            [&](const SequencePlace& place, const std::string& bases) {
              emit(planner.plan(shown_name(place, options.inputs.has_regions()), bases));
            },
            [&](const SequenceTotals& totals) { progress.set_total(totals.sequences); });
      },
      [&](EmbedItem& item) {
        writer->write(item.name, take_rows(item, options.dtype));
        progress.update(++done, item.name);
      },
      ordered);
  progress.finish();
  report_passes(engine);
  writer->close();
}

}  // namespace carbon
