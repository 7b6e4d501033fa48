// carbon annotate with a model: contigs become windows, their logits means, and these, when a contig is
// complete, what the outputs write.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "src/annotate/outputs.hpp"
#include "src/annotate/probabilities.hpp"
#include "src/annotate/run.hpp"
#include "src/annotate/windows.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/files/output.hpp"
#include "src/formats/fasta.hpp"
#include "src/model/work.hpp"

namespace carbon {
namespace {

constexpr char kFunction[] = "annotate";
// Windows are long: while one is computed, the next one must be ready.
constexpr size_t kLeastItems = 3;

struct Contig {
  FastaRecord record;
  size_t number = 0;
  std::vector<Interval> wanted;
  uint64_t before = 0;      // bases of the contigs of this run before it
  SequencesDone done = {};  // up to this contig, where probabilities are kept
  int64_t from = 0;         // bases that an earlier run has

  int64_t bases() const { return static_cast<int64_t>(record.sequence.size()); }
};

/// A window of a contig; or none, of a contig that has no other.
struct AnnotateItem {
  std::shared_ptr<const Contig> contig;
  AnnotatedWindow window;
  bool unknown = false;  // none of its tokens is a 6-mer, so that all such windows have the same values
  std::vector<RequestPtr> requests;

  // The next contigs wait until this one is written.
  size_t bytes() const { return window.last ? contig->record.sequence.size() : 0; }
};

/// Plans the windows of a run.
class AnnotatePlanner {
 public:
  AnnotatePlanner(const ModelConfig& config, const WindowSizes& sizes)
      : layout_(config.layout), sizes_(sizes) {}

  void plan(const std::shared_ptr<const Contig>& contig, const std::function<void(AnnotateItem)>& emit) {
    bool any = false;
    visit_windows(contig->bases(), sizes_, contig->wanted, contig->from, [&](const AnnotatedWindow& window) {
      any = true;
      emit(item_of(contig, window));
    });
    if (!any) emit({contig, {{}, contig->bases(), true}, false, {}});
  }

 private:
  AnnotateItem item_of(const std::shared_ptr<const Contig>& contig, const AnnotatedWindow& window) {
    AnnotateItem item{contig, window, false, {}};
    RequestPtr request = window_request(contig->record.sequence, window.place, layout_);
    const std::vector<uint32_t>& tokens = request->tokens;
    item.unknown =
        window.place.size() == sizes_.window &&
        std::all_of(tokens.begin(), tokens.end(), [&](uint32_t id) { return id == layout_.oov(); });
    if (!item.unknown || !std::exchange(unknown_planned_, true)) item.requests.push_back(std::move(request));
    return item;
  }

  const TokenLayout& layout_;
  const WindowSizes sizes_;
  bool unknown_planned_ = false;
};

/// Reads the contigs of a run.
class ContigReader {
 public:
  using Take = std::function<void(Contig)>;

  ContigReader(const AnnotateOptions& options, const Contigs& known, const KeptProbabilities* kept)
      : options_(options), kept_(kept), read_(kept ? kept->continued() : std::nullopt), names_(options) {
    if (kept != nullptr) kept_bases_ = kept->bases();
    for (const auto& [name, bases] : known) all_ += static_cast<uint64_t>(bases);
  }

  void read(const Take& take) {
    options_.inputs.has_regions() ? read_regions(take) : read_files(take);
    if (kept_) read_.finish();
  }

 private:
  void read_files(const Take& take) {
    for (const std::string& path : options_.inputs.files) {
      FastaReader reader(path, *options_.log);
      for (FastaRecord record; reader.next(record); record = {}) {
        names_.check(path, record);
        const auto bases = static_cast<int64_t>(record.sequence.size());
        const bool mine = bases > 0 && is_mine();
        position_ += static_cast<uint64_t>(bases);
        if (bases > 0) ++number_;
        if (mine) give({std::move(record), number_ - 1, {{0, bases}}}, take);
      }
    }
  }

  void read_regions(const Take& take) {
    const IndexedFasta fasta(options_.inputs.files.front(), *options_.log);
    const auto wanted = joined_by_contig(regions_of(options_.inputs, fasta));
    for (const std::string& name : fasta.names()) {
      if (fasta.length(name) == 0) continue;
      Contig contig{{name, ""}, number_++, {}};
      const auto found = wanted.find(name);
      if (found == wanted.end()) continue;
      for (const auto& [begin, end] : found->second) contig.wanted.push_back({begin, end});
      contig.record.sequence = fasta.fetch(name, 0, fasta.length(name));
      names_.check(fasta.path(), contig.record);
      give(std::move(contig), take);
    }
  }

  // Whether the contig that begins after position_ bases of the input belongs to the share.
  bool is_mine() const {
    if (!options_.shard) return true;
    const auto share = static_cast<unsigned __int128>(options_.shard->count) * position_ / all_;
    return std::min<uint64_t>(options_.shard->count, 1 + static_cast<uint64_t>(share)) ==
           options_.shard->index;
  }

  void give(Contig contig, const Take& take) {
    contig.before = given_;
    given_ += static_cast<uint64_t>(contig.bases());
    if (kept_) {
      const bool needed = read_.next(contig.record.name, contig.record.sequence);
      contig.from = needed ? static_cast<int64_t>(read_.parts_written()) : contig.bases();
      contig.done = read_.done();
      if (kept_->continued() && contig.done.count == kept_->continued()->count &&
          kept_bases_ != contig.before + static_cast<uint64_t>(contig.from))
        kept_->fail_mark();
    }
    take(std::move(contig));
  }

  const AnnotateOptions& options_;
  const KeptProbabilities* kept_;
  SequencesRead read_;
  DistinctContigs names_;
  uint64_t kept_bases_ = 0, all_ = 0, position_ = 0, given_ = 0;
  size_t number_ = 0;
};

/// Takes the items in their order.
class Annotator {
 public:
  Annotator(KeptProbabilities* kept, const std::vector<std::unique_ptr<ContigOutput>>& outputs, int64_t token)
      : kept_(kept), outputs_(outputs), token_(token) {}

  /// Returns how many bases of the contig are done.
  int64_t take(const AnnotateItem& item) {
    const Contig& contig = *item.contig;
    if (item.contig != contig_) begin(item.contig);
    const Interval& place = item.window.place;
    if (place.size() > 0) {
      means_->skip(place.begin);  // of regions, the first window may lie far inside the contig
      means_->add(place, token_, logits_of(item));
      means_->finish(std::min(item.window.final_end, place.end));
    }
    if (item.window.last && kept_) means_->finish(contig.bases());
    means_->skip(item.window.final_end);
    if (item.window.last) write(contig);
    if (kept_) mark(item);
    return item.window.last ? contig.bases() : item.window.final_end;
  }

 private:
  void begin(const std::shared_ptr<const Contig>& contig) {
    contig_ = contig;
    scratch_.reset();
    if (!kept_) scratch_ = std::make_unique<ScratchProbabilities>(contig->bases());
    means_.emplace(contig->from,
                   [this](int64_t begin, std::span<const float> plus, std::span<const float> minus) {
                     if (kept_) return kept_->append(plus, minus);
                     scratch_->write(false, begin, plus);
                     scratch_->write(true, begin, minus);
                   });
  }

  std::span<const float> logits_of(const AnnotateItem& item) {
    if (item.requests.empty()) return unknown_;
    const std::vector<float>& logits =
        window_logits(*item.requests.front(), item.contig->record.name, item.window.place);
    if (item.unknown) unknown_ = logits;
    return logits;
  }

  void write(const Contig& contig) {
    const std::unique_ptr<Probabilities> view = kept_ ? kept_->view(contig.before, contig.bases()) : nullptr;
    const Probabilities& probabilities = view ? *view : *scratch_;
    for (const auto& output : outputs_)
      output->write({contig.record, contig.number, contig.wanted, probabilities});
  }

  // A contig that an earlier run has is followed by others in the file.
  void mark(const AnnotateItem& item) {
    const Contig& contig = *item.contig;
    SequencesDone done = contig.done;
    if (!item.window.last) done.parts = static_cast<uint64_t>(item.window.final_end);
    if (kept_->bases() ==
        contig.before + (item.window.last ? static_cast<uint64_t>(contig.bases()) : done.parts))
      kept_->mark(done);
  }

  KeptProbabilities* kept_;
  const std::vector<std::unique_ptr<ContigOutput>>& outputs_;
  const int64_t token_;
  std::shared_ptr<const Contig> contig_;
  std::unique_ptr<ScratchProbabilities> scratch_;
  std::optional<MeanProbabilities> means_;
  std::vector<float> unknown_;  // logits of a window without a 6-mer
};

// What a run writes.
struct AnnotateFiles {
  std::unique_ptr<KeptProbabilities> kept;  // null: the output is a stream, or regions are asked for
  std::vector<std::unique_ptr<ContigOutput>> outputs = {};

  bool to_file() const { return kept != nullptr; }
  std::string saved_in() const { return kept ? kept->saved_in() : ""; }
  void flush_finished() {
    if (kept) return kept->mark_now();
    for (const auto& output : outputs) output->flush();
  }
  void close() {
    for (const auto& output : outputs) output->finish();
    for (const auto& output : outputs) output->commit();
    if (kept) kept->finish();
  }
};

// What the probabilities depend on, besides the contigs, which are compared one by one.
RunIdentity annotate_identity(const LoadedModel& model, AnnotateOptions options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : setting_values(window_settings(options))) run.emplace(name, value);
  run.emplace("shard", options.shard ? shard_text(*options.shard) : "none");
  return run;
}

std::unique_ptr<KeptProbabilities> open_kept(const LoadedModel& model, const AnnotateOptions& options) {
  if (options.inputs.has_regions()) return nullptr;
  const std::string target = replaced_file(options.output);
  if (target.empty()) return nullptr;
  return std::make_unique<KeptProbabilities>(target, annotate_identity(model, options), options.earlier,
                                             *options.log);
}

std::vector<std::string> header_lines(const LoadedModel& model, AnnotateOptions options) {
  return provenance_lines(
      kFunction, options.record,
      {model_line(kFunction, "coding", model, header_text(setting_values(window_settings(options))))});
}

// The names and lengths of all contigs that have bases, if a run has to know them before it begins.
Contigs contigs_of(const AnnotateOptions& options) {
  Contigs contigs;
  if (!options.shard && !needs_contigs(options)) return contigs;
  if (options.inputs.has_regions()) {
    const IndexedFasta fasta(options.inputs.files.front(), *options.log);
    for (const std::string& name : fasta.names())
      if (fasta.length(name) > 0) contigs.emplace_back(name, fasta.length(name));
    return contigs;
  }
  for (const std::string& path : options.inputs.files) {
    FastaReader reader(path);
    for (FastaRecord record; reader.next(record); record = {})
      if (!record.sequence.empty())
        contigs.emplace_back(record.name, static_cast<int64_t>(record.sequence.size()));
  }
  return contigs;
}

}  // namespace

RequestPtr window_request(std::string_view contig, const Interval& place, const TokenLayout& layout) {
  auto request = std::make_shared<Request>();
  request->tokens = encode_kmers(
      contig.substr(static_cast<size_t>(place.begin), static_cast<size_t>(place.size())), layout);
  request->head = HeadKind::class_logits;
  return request;
}

const std::vector<float>& window_logits(const Request& request, std::string_view contig,
                                        const Interval& place) {
  if (request.outcome == Outcome::not_finite)
    throw not_finite(kFunction, "logits at " + printable(std::string(contig)) + ":" +
                                    std::to_string(place.begin + 1) + "-" + std::to_string(place.end));
  return request.states;
}

void run_annotate(Engine& engine, AnnotateOptions options) {
  const ModelConfig& config = engine.config();
  complete_annotate_windows(options, config.max_positions, config.layout.bases());
  const WindowSizes sizes{options.window, *options.overlap, static_cast<int64_t>(config.layout.bases())};
  const Contigs contigs = contigs_of(options);
  AnnotateFiles files{open_kept(engine.model(), options)};
  // While FILE.partial.p is locked, no other run of this command writes the output.
  files.outputs = open_outputs(options, header_lines(engine.model(), options), contigs,
                               files.kept ? TemporaryName::fixed : TemporaryName::unique);
  Progress progress(*options.log, options.progress, kFunction, "bp");
  uint64_t done = files.kept && files.kept->continued() ? files.kept->bases() : 0;
  progress.begin_at(done);
  AnnotatePlanner planner(config, sizes);
  ContigReader reader(options, contigs, files.kept.get());
  Annotator annotator(files.kept.get(), files.outputs, sizes.token);
  run_to_output<AnnotateItem>(
      engine,
      {kFunction, [&] { return count_of(done, "base"); }, *options.log, options.stop, nullptr, kLeastItems,
       files.kept ? "every window" : ""},
      files, progress,
      [&](const std::function<void(AnnotateItem)>& emit) {
        reader.read(
            [&](Contig contig) { planner.plan(std::make_shared<const Contig>(std::move(contig)), emit); });
      },
      [&](AnnotateItem& item) {
        done = std::max(done, item.contig->before + static_cast<uint64_t>(annotator.take(item)));
        progress.update(done, item.contig->record.name);
        item.requests.clear();
      });
}

}  // namespace carbon
