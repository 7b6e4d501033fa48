#include "src/scan/run.hpp"

#include "src/engine/ordered_writer.hpp"
#include "src/genome/provenance.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/estimate.hpp"
#include "src/scan/output.hpp"

namespace carbon {
namespace {

// Windows of a scan are as long as the model allows, so that a few of them fill the room between planner and
// writer. While one is computed, the next ones must be ready.
constexpr size_t kLeastItems = 6;

const char* level_text(ScanLevel level) {
  constexpr const char* names[] = {"marginal", "chain", "first"};
  return names[static_cast<size_t>(level)];
}

// The ##carbon_scanModel line: everything that the values depend on besides the FASTA.
std::string model_line(const LoadedModel& model, const ScanOptions& options) {
  std::string line = "##carbon_scanModel=<ID=CARBON_SCAN,Model=\"" + model.checkpoint().id() +
                     "\",SHA256=" + model.model_sha256() + ",Dtype=" + model.dtype() + ",Device=\"" +
                     model.device_kind() + "\",Level=" + level_text(options.level) +
                     ",Frames=" + std::to_string(options.frames) +
                     ",Context=" + std::to_string(options.context) + ",Strand=" + strand_text(options.strand);
  if (const std::string& scaling = model.checkpoint().rope_override(); !scaling.empty())
    line += ",RopeScaling=" + scaling;
  return line + ">";
}

std::vector<std::string> header_lines(const LoadedModel& model, const ScanOptions& options) {
  std::vector<std::string> lines;
  if (options.version_lines) lines = version_lines("scan", options.command_line);
  lines.push_back(model_line(model, options));
  return lines;
}

// Says before the first token how the contigs are cut into windows, and what the run will take.
void announce(const ScanGrid& grid, const ScanOptions& options, const ScanCost& cost) {
  options.log->message("scan", "windows of " + std::to_string(kKmerLength * grid.window) + " bp every " +
                                   std::to_string(kKmerLength * grid.stride) +
                                   " bp, so that a base has at least " + std::to_string(grid.context) +
                                   " bp of context where the contig has as many before it");
  options.log->message("scan", cost_text(cost));
}

}  // namespace

void run_scan(Engine& engine, ScanOptions options) {
  const ModelConfig& config = engine.config();
  complete_scan_options(options, config.max_positions);
  const ScanGrid grid = make_scan_grid(options.context, config.max_positions);
  const ScanPlanner planner(grid, options);
  const IndexedFasta fasta(options.fasta, *options.log);
  std::vector<ScanPiece> pieces = selected_pieces(fasta, options.selection);
  if (options.shard) pieces = pieces_of_share(pieces, *options.shard);
  const ScanCost cost = scan_cost(pieces, planner, config, scan_output_type(options));
  announce(grid, options, cost);
  if (options.dry_run) return;

  const auto output = make_scan_output(options, fasta, header_lines(engine.model(), options));
  uint64_t scored = 0;
  ScanAssembler assembler(planner.tracks(), options.level, [&](const ScannedBase& base) {
    output->write(base);
    ++scored;
  });
  Progress progress(*options.log, options.progress, "scan", "bp");
  progress.set_total(cost.bases);
  uint64_t done = 0;  // bases, on each track
  OrderedRun ordered;
  ordered.least_items = kLeastItems;
  run_ordered<ScanItem>(
      engine,
      [&](const std::function<void(ScanItem)>& emit) {
        for (const ScanPiece& piece : pieces) planner.plan(piece, fasta, config.layout, emit);
      },
      [&](const ScanItem& item) {
        assembler.consume(item);
        done += static_cast<uint64_t>(item.span.end - item.span.begin);
        progress.update(done / planner.tracks().size(), item.piece->contig);
      },
      ordered);
  progress.finish();
  report_passes(engine);
  output->close();
  options.log->message("scan", std::to_string(scored) + " of " + std::to_string(cost.bases) +
                                   " bases have values; the others are not A, C, G or T");
}

}  // namespace carbon
