#include "src/scan/run.hpp"

#include "src/base/counts.hpp"
#include "src/engine/output_run.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/files/output.hpp"
#include "src/formats/position_limits.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/estimate.hpp"
#include "src/scan/header.hpp"
#include "src/scan/recorder.hpp"

namespace carbon {
namespace {

// Windows of a scan are as long as the model allows, so that a few of them fill the room between planner and
// writer. While one is computed, the next ones must be ready.
constexpr size_t kLeastItems = 6;
// Bases of a piece whose windows are run to measure the speed.
constexpr int64_t kMeasuredBases = 2'000'000;

// How the contigs are cut into windows.
std::string grid_text(const ScanGrid& grid) {
  return "windows of " + std::to_string(grid.bases * grid.window) + " bp every " +
         std::to_string(grid.bases * grid.stride) + " bp; each base gets at least " +
         std::to_string(grid.context) + " bp of context, less near the ends of a contig";
}

// Throws Error if the output or its index cannot hold the bases that will be written.
void check_positions(const ScanOptions& options, const std::vector<ScanPiece>& pieces) {
  if (!scan_output_type(options).of_variants) return;
  const VcfWriterOptions writing = scan_writer_options(options);
  for (const ScanPiece& piece : pieces)
    check_last_position(writing, piece.end,
                        "the scan reaches " + piece.contig + ":" + std::to_string(piece.end) + " (" +
                            piece.contig + " has " + count_of(piece.length, "base") + ")");
}

// Null for an output that cannot be continued: a stream, or a set of files.
std::unique_ptr<ResumableOutput> open_partial(const LoadedModel& model, const ScanOptions& options,
                                              const std::vector<ScanPiece>& pieces) {
  if (!scan_output_type(options).set.empty()) return nullptr;
  const std::string target = replaced_file(options.output);
  if (target.empty()) return nullptr;
  return std::make_unique<ResumableOutput>(target, PartialKind{"scan", "base"},
                                           scan_identity(model, options, pieces), options.earlier,
                                           *options.log);
}

// The file of a histogram, which gets its name when the scan is complete.
class HistogramFile {
 public:
  HistogramFile(const ScanOptions& options, const ScanDestination& destination)
      : counts(options.fasta, *options.log),
        lines_(destination.header_lines),
        // While FILE.partial is locked, no other run of this command writes the histogram.
        output_(options.histogram, destination.temporary == TemporaryName::kept ? TemporaryName::fixed
                                                                                : TemporaryName::unique) {}

  void finish() {
    for (const std::string& line : lines_) output_.write(line + "\n");
    output_.write("#TRI\tALT\tBIN\tCOUNT\n" + counts.text());
    output_.finish();
  }
  void commit() { output_.commit(); }

  ScanHistogram counts;

 private:
  std::vector<std::string> lines_;
  TextOutput output_;
};

// What a run writes.
struct ScanFiles {
  std::unique_ptr<ResumableOutput> partial;  // null for an output that cannot be continued
  std::optional<HistogramFile> histogram = {};
  std::unique_ptr<ScanOutput> output = nullptr;

  bool to_file() const { return partial != nullptr; }
  std::string saved_in() const { return partial && partial->saved() ? partial->path() : ""; }
  void flush_finished() {
    if (!partial) output->file().flush();
  }
  void close() {
    if (histogram) histogram->finish();
    output->file().close();
    if (partial) partial->finish();
    if (histogram) histogram->commit();
  }
};

// How long the run takes at the speed of its first windows.
RunTime measured(Engine& engine, const ScanPlanner& planner, const IndexedFasta& fasta,
                 const std::vector<ScanPiece>& pieces, const ScanCost& cost) {
  RunEstimate estimate;
  for (const ScanPiece& piece : pieces) {
    const auto bases = [&](int64_t begin, int64_t end) { return fasta.fetch(piece.contig, begin, end); };
    // A whole chromosome would be read to plan all its windows.
    ScanPiece begin = piece;
    begin.end = std::min(begin.end, begin.begin + kMeasuredBases);
    planner.plan(begin, bases, engine.config().layout,
                 [&](const ScanItem& item) { estimate.add(item.requests); });
    if (estimate.enough_to_measure()) break;
  }
  return estimate.measure(engine, cost.tokens);
}

// Scans the pieces, of `total` bases that the run has with those that an earlier run has done.
void scan_pieces(Engine& engine, const ScanOptions& options, const ScanPlanner& planner,
                 const IndexedFasta& fasta, const std::vector<ScanPiece>& pieces, uint64_t total,
                 ScanFiles& files, ScanRecorder& recorder) {
  Progress progress(*options.log, options.progress, "scan", "bp");
  progress.set_total(total);
  const uint64_t before = total - total_bases(pieces);
  progress.begin_at(before);
  ScanAssembler assembler(planner.tracks(), options.level, engine.config().layout.bases(),
                          [&](const ScannedBase& base) { recorder.write(base); });
  const size_t tracks = planner.tracks().size();
  uint64_t done = before * tracks;  // bases, on each track
  run_to_output<ScanItem>(
      engine,
      {"scan", [&] { return std::to_string(done / tracks) + " bp"; }, *options.log, options.stop,
       [&] { files.output->file().flush_for_reader(); }, kLeastItems,
       files.partial ? "every 65,536th base of a contig" : ""},
      files, progress,
      [&](const std::function<void(ScanItem)>& emit) {
        for (const ScanPiece& piece : pieces) {
          const auto bases = [&](int64_t begin, int64_t end) {
            return fasta.fetch(piece.contig, begin, end);
          };
          planner.plan(piece, bases, engine.config().layout, emit);
        }
      },
      [&](const ScanItem& item) {
        assembler.consume(item);
        done += static_cast<uint64_t>(item.span.end - item.span.begin);
        progress.update(done / tracks, item.piece->contig);
      });
}

}  // namespace

void run_scan(Engine& engine, ScanOptions options) {
  const ModelConfig& config = engine.config();
  const size_t positions = config.sequence_positions(), bases = config.layout.bases();
  complete_scan_options(options, positions, bases);
  const ScanGrid grid = make_scan_grid(options.context, positions, bases);
  const ScanPlanner planner(grid, options);
  const IndexedFasta fasta(options.fasta, *options.log);
  std::vector<ScanPiece> pieces = selected_pieces(fasta, options.selection);
  if (options.shard) pieces = pieces_of_share(pieces, *options.shard);
  check_positions(options, pieces);
  const uint64_t total = total_bases(pieces);
  if (options.dry_run || options.estimate.wanted) {
    const ScanCost cost = scan_cost(pieces, planner, config, scan_output_type(options));
    std::string text = grid_text(grid) + "\n" + cost_text(cost) + "\n";
    if (options.estimate.wanted) {
      const RunTime time = measured(engine, planner, fasta, pieces, cost);
      text += time.text + "\n" + shares_text(options.estimate, time);
    }
    return write_standard_output(text);
  }

  ScanDestination destination{scan_header_lines(engine.model(), options)};
  ScanFiles files{open_partial(engine.model(), options, pieces)};
  if (files.partial) destination.temporary = TemporaryName::kept;
  const std::optional<ScanMark> mark = files.partial ? continued_mark(*files.partial) : std::nullopt;
  if (mark) {
    check_bases_before(*mark, pieces, fasta);
    pieces = pieces_from(pieces, *mark);
    destination.continued = true;
  }
  options.log->message("scan", grid_text(grid));
  options.log->message("scan", cost_text(scan_cost(pieces, planner, config, scan_output_type(options))));
  if (!options.histogram.empty()) files.histogram.emplace(options, destination);
  files.output = scan_output_type(options).open(options, fasta, destination);
  ScanRecorder recorder(*files.output, files.partial.get(), mark,
                        files.histogram ? &files.histogram->counts : nullptr);
  scan_pieces(engine, options, planner, fasta, pieces, total, files, recorder);
  options.log->message("scan", std::to_string(recorder.scored()) + " of " + std::to_string(total) +
                                   " bases have values; the others are not A, C, G or T");
}

}  // namespace carbon
