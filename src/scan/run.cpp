#include "src/scan/run.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/files/output.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/vcf.hpp"
#include "src/model/digest.hpp"
#include "src/model/work.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/output.hpp"
#include "src/scan/planner.hpp"
#include "src/scan/recorder.hpp"

namespace carbon {
namespace {

// How many frames can be read: the divisors of `bases`.
std::vector<std::string> frame_counts(size_t bases) {
  std::vector<std::string> counts;
  for (size_t count = 1; count <= bases; ++count)
    if (bases % count == 0) counts.push_back(std::to_string(count));
  return counts;
}

}  // namespace

SettingList scan_settings(ScanOptions& options) {
  constexpr int64_t kMostBases = 1'000'000'000;  // beyond any context
  return {Setting("level", "LEVEL",
                  "probability of a base: marginal (bases before it in its 6-mer summed over; default), "
                  "chain (given these bases) or "
                  "first (each base as the first of its 6-mer)",
                  options.level, kScanLevelWords),
          Setting("frames", "N", "take the mean over 1, 2, 3 or 6 frames of the 6-mers", &options.frames)
              .range(1, 6)
              .one_of({"1", "2", "3", "6"})
              .otherwise("1; 6 with --level first"),
          Setting("context", "BP", "least left context in bp, a multiple of 6", &options.context)
              .range(1, kMostBases)
              .otherwise("24000, or what the model's context allows"),
          Setting("strand", "STRAND", "strand to read: +, - or both (mean of the two; default)",
                  options.strand, kStrandWords)};
}

void complete_scan_options(ScanOptions& options, size_t max_positions, size_t bases) {
  const bool first = options.level == ScanLevel::first;
  const int all = static_cast<int>(bases);
  if (bases == 1 && options.level != ScanLevel::marginal)
    throw SettingError(
        "scan", "level",
        std::string("level ") + word_of(kScanLevelWords, options.level) +
            " cannot be used with a model of one base a token, which has no bases before it in a "
            "token; expected marginal");
  if (options.frames > 0 && all % options.frames != 0)
    throw SettingError("scan", "frames",
                       std::to_string(options.frames) + " frames cannot be read with tokens of " +
                           count_of(bases, "base") + "; expected " + or_list(frame_counts(bases)),
                       {"leave out {--frames}, or choose another {--level}"});
  if (options.frames == 0) options.frames = first ? all : 1;
  if (first && options.frames != all)
    throw SettingError("scan", "frames",
                       "level first needs six frames, because each frame gives a value to one base in six",
                       {"leave out {--frames}, or choose another {--level}"});
  if (options.context == 0) options.context = default_scan_context(max_positions, bases);
}

namespace {

// Windows of a scan are as long as the model allows, so that a few of them fill the room between planner and
// writer. While one is computed, the next ones must be ready.
constexpr size_t kLeastItems = 6;
// Bases of a piece whose windows are run to measure the speed.
constexpr int64_t kMeasuredBases = 2'000'000;

// What a scan will cost, counted from its windows before the first token.
struct ScanCost {
  uint64_t bases = 0;  // selected, with those that are not A, C, G or T
  uint64_t windows = 0;
  uint64_t tokens = 0;        // at most: rows without A, C, G or T at the ends of windows are left out later
  double operations = 0;      // floating-point, of matrix products and attention
  uint64_t output_bytes = 0;  // at most, before compression
};

ScanCost scan_cost(const std::vector<ScanPiece>& pieces, const ScanPlanner& planner,
                   const ModelConfig& config, const ScanOutputType& output) {
  ScanCost cost;
  cost.bases = total_bases(pieces);
  for (const ScanPiece& piece : pieces)
    cost.output_bytes += static_cast<uint64_t>(piece.end - piece.begin) * output.bytes_per_base(piece);
  for (const ScanPiece& piece : joined_pieces(pieces))
    planner.spans(piece, [&](const TrackSpan& span) {
      const auto row_of = [&](int64_t base) {
        return static_cast<size_t>(base - span.window.begin) / config.layout.bases();
      };
      const size_t tokens = row_of(span.end - 1) + 1, wanted = tokens - row_of(span.begin);
      const WorkChunk chunk{0, tokens, wanted};
      ++cost.windows;
      cost.tokens += tokens;
      cost.operations += forward_work(config, {}, {&chunk, 1}).flops;
    });
  return cost;
}

std::string scaled(double value, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t power = 0;
  for (; value >= 1000 && power + 1 < std::size(prefixes); ++power) value /= 1000;
  return general_text(value, 4) + " " + prefixes[power] + unit;
}

// The cost as two sentences for a log.
std::string cost_text(const ScanCost& cost) {
  return count_of(cost.bases, "base") + " in " + count_of(cost.windows, "window") + " with " +
         count_of(cost.tokens, "token") + ", which take " + scaled(cost.operations, "FLOP") +
         "; the output has at most " + scaled(static_cast<double>(cost.output_bytes), "B") +
         " before compression";
}

// How long the run takes at the speed of its first windows.
RunTime measured(Engine& engine, const ScanPlanner& planner, const IndexedFasta& fasta,
                 const std::vector<ScanPiece>& pieces, const ScanCost& cost) {
  RunEstimate estimate;
  for (const ScanPiece& piece : joined_pieces(pieces)) {
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

// How the contigs are cut into windows.
std::string grid_text(const ScanGrid& grid) {
  return "windows of " + std::to_string(grid.bases * grid.window) + " bp every " +
         std::to_string(grid.bases * grid.stride) + " bp; each base gets at least " +
         std::to_string(grid.context) + " bp of context, less near the ends of a contig";
}

// Settings name variables, and these only read them.
Settings settings_of(ScanOptions options) {
  return setting_values(scan_settings(options));
}

// The bases of a run in few words, which are equal for equal pieces.
std::string pieces_text(const std::vector<ScanPiece>& pieces) {
  std::string all;
  for (const ScanPiece& piece : pieces)
    all += piece.contig + "\t" + std::to_string(piece.number) + "\t" + std::to_string(piece.length) + "\t" +
           std::to_string(piece.begin) + "\t" + std::to_string(piece.end) + "\n";
  return std::to_string(total_bases(pieces)) + " (SHA-256 " + sha256_hex(all).substr(0, 16) + ")";
}

// Program and command line, unless the options leave them out, and a line ##carbon_scanModel that has
// everything the values depend on besides the FASTA.
std::vector<std::string> scan_header_lines(const LoadedModel& model, const ScanOptions& options) {
  return provenance_lines("scan", {options.command_line, !options.version_lines},
                          {model_line("scan", "CARBON_SCAN", model, header_text(settings_of(options)))});
}

// Everything that the output depends on, except the bases, which check_bases_before() compares, and the
// version lines of the header, which are those of the first run.
RunIdentity scan_identity(const LoadedModel& model, const ScanOptions& options,
                          const std::vector<ScanPiece>& pieces) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.merge(RunIdentity{{"bases", pieces_text(pieces)},
                        {"output-type", scan_output_text(options)},
                        {"histogram", options.histogram.empty() ? "none" : "yes"}});
  return run;
}

// Throws Error if the output or its index cannot hold the bases that will be written.
void check_pieces(const ScanOptions& options, const std::vector<ScanPiece>& pieces) {
  const ScanOutputType& type = scan_output_type(options);
  for (const ScanPiece& piece : pieces)
    if (type.check_name) type.check_name(piece.contig);
  if (!type.of_variants) return;
  const VcfWriterOptions writing = scan_writer_options(options);
  for (const ScanPiece& piece : pieces)
    check_last_position(writing, piece.end,
                        "the scan reaches " + piece.contig + ":" + std::to_string(piece.end) + " (" +
                            piece.contig + " has " + count_of(piece.length, "base") + ")");
}

// Null for an output that is not continued: a stream, a set of files, or one that nobody keeps.
std::unique_ptr<ResumableOutput> open_partial(const LoadedModel& model, const ScanOptions& options,
                                              const std::vector<ScanPiece>& pieces) {
  if (!options.keeps_partial || !scan_output_type(options).set.empty()) return nullptr;
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
        for (const ScanPiece& piece : joined_pieces(pieces)) {
          const auto bases = [&](int64_t begin, int64_t end) {
            return fasta.fetch(piece.contig, begin, end);
          };
          planner.plan(piece, bases, engine.config().layout, emit);
        }
      },
      [&](const ScanItem& item) {
        done += assembler.consume(item);
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
  check_pieces(options, pieces);
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
  destination.threads = output_threads(engine);
  if (files.partial) destination.temporary = TemporaryName::kept;
  const std::optional<ScanMark> mark = files.partial ? continued_mark(*files.partial) : std::nullopt;
  if (mark) {
    check_bases_before(*mark, pieces, fasta);
    pieces = pieces_from(pieces, *mark);
    destination.continued = true;
  }
  options.log->info("scan", grid_text(grid));
  options.log->info("scan", cost_text(scan_cost(pieces, planner, config, scan_output_type(options))));
  if (!options.histogram.empty()) files.histogram.emplace(options, destination);
  files.output = scan_output_type(options).open(options, fasta, destination);
  ScanRecorder recorder(*files.output, files.partial.get(), mark,
                        files.histogram ? &files.histogram->counts : nullptr);
  scan_pieces(engine, options, planner, fasta, pieces, total, files, recorder);
  const bool all = recorder.scored() == static_cast<uint64_t>(total);
  options.log->message("scan", std::to_string(recorder.scored()) + " of " + count_of(total, "base") +
                                   (all ? " have values" : " have values; the others are not A, C, G or T"));
}

}  // namespace carbon
