// scan: the log-probabilities of the four letters at each base, as `carbon scan` computes them. Inputs are
// sequences, or regions if there is a FASTA. A result has logp [bases, 4], contig and begin (from 0) of a
// region, and bases.
#include <limits>
#include <optional>
#include <utility>

#include "src/base/error.hpp"
#include "src/formats/fasta.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/planner.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

class ScanVerb final : public Verb {
 public:
  ScanVerb(const VerbContext& context, const ScanOptions& options, std::optional<IndexedFasta> fasta)
      : context_(context),
        layout_(context.served.config().layout),
        fasta_(std::move(fasta)),
        planner_(
            make_scan_grid(options.context, context.served.config().sequence_positions(), layout_.bases()),
            options),
        assembler_(planner_.tracks(), options.level, layout_.bases(),
                   [this](const ScannedBase& base) { keep(base); }) {}

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    if (of_regions()) return add_region(name, std::string(text), emit);
    const std::string bases = to_upper(checked_bases(name, text, context_.note));
    const auto length = static_cast<int64_t>(bases.size());
    plan({name, 0, length, 0, length}, bases, emit,
         [&](int64_t begin, int64_t end) { return part(bases, begin, end); });
  }

  size_t bases_of(const std::string& name, std::string_view text) const override {
    if (!of_regions()) return text.size();
    size_t bases = 0;
    with_fasta([&](const IndexedFasta& fasta) {
      const ScanPiece piece = piece_of(fasta, name, std::string(text));
      bases = static_cast<size_t>(piece.end - piece.begin);
    });
    return bases;
  }

  WindowBases windows(size_t bases) const override {
    const auto length = static_cast<int64_t>(bases);
    WindowBases all{0, "context"};
    planner_.spans({"", 0, length, 0, length}, [&](const TrackSpan& span) {
      all.bases += static_cast<size_t>(span.end - span.window.begin);
    });
    all.bases /= planner_.tracks().size();
    return all;
  }

 private:
  static std::string part(const std::string& bases, int64_t begin, int64_t end) {
    return bases.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  bool of_regions() const { return fasta_ || context_.reference; }
  // Calls `use` with the FASTA of the settings or that of the door.
  void with_fasta(const std::function<void(const IndexedFasta&)>& use) const {
    if (fasta_) return use(*fasta_);
    context_.reference->read(use);
  }

  // Messages begin with "region 'c1:1-9'", of which `name` says which one it is.
  template <class Work>
  static auto named(const std::string& name, const Work& work) {
    constexpr std::string_view kRegion = "region ";
    try {
      return work();
    } catch (const Error& error) {
      const std::string text = error.what();
      if (!text.starts_with(kRegion)) throw;
      throw Error(error.function(), name + text.substr(kRegion.size() - 1), error.advice());
    }
  }

  static ScanPiece piece_of(const IndexedFasta& fasta, const std::string& name, const std::string& region) {
    ScanSelection selection;
    selection.regions = region;
    // Nothing would select the whole genome.
    if (region.empty()) throw Error("scan", name + " is empty; expected a region such as chr1:100-200");
    std::vector<ScanPiece> pieces = named(name, [&] { return selected_pieces(fasta, selection); });
    if (pieces.size() != 1) throw Error("scan", name + " has several regions; add each of them");
    return std::move(pieces.front());
  }

  void add_region(const std::string& name, const std::string& region, const Emit& emit) {
    with_fasta([&](const IndexedFasta& fasta) {
      const ScanPiece piece = piece_of(fasta, name, region);
      or_input_error([&] {
        plan(piece, to_upper(fasta.fetch(piece.contig, piece.begin, piece.end)), emit,
             [&](int64_t begin, int64_t end) { return fasta.fetch(piece.contig, begin, end); });
      });
    });
  }

  // `letters` are the bases of the piece.
  void plan(const ScanPiece& piece, std::string letters, const Emit& emit, const ContigBases& contig) {
    bool first = true;
    const auto begin = std::make_shared<std::string>(std::move(letters));
    planner_.plan(piece, contig, layout_, [&](ScanItem item) {
      const auto kept = std::make_shared<ScanItem>(std::move(item));
      emit({kept->requests,
            [this, kept, letters = std::exchange(first, false) ? begin : nullptr](Findings& findings) {
              if (letters) begin_piece(kept->piece->contig, kept->piece->begin, std::move(*letters));
              assembler_.consume(*kept);
              if (kept->last) findings.results.push_back(take());
            }});
    });
    if (first)
      emit({{}, [this, begin, piece](Findings& findings) {
              begin_piece(piece.contig, piece.begin, std::move(*begin));
              findings.results.push_back(take());
            }});
  }

  void begin_piece(const std::string& contig, int64_t begin, std::string letters) {
    contig_ = of_regions() ? contig : "";
    begin_ = begin;
    letters_ = std::move(letters);
    values_.assign(letters_.size() * ops::kLetters, std::numeric_limits<double>::quiet_NaN());
  }

  void keep(const ScannedBase& base) {
    size_t column = static_cast<size_t>(base.position - begin_) * ops::kLetters;
    for (const size_t digit : kOutputOrder) values_[column++] = base.logp[digit];
  }

  Result take() {
    const size_t n = letters_.size();
    Result result;
    result.emplace_back("logp", std::move(values_), std::initializer_list<size_t>{n, ops::kLetters});
    result.emplace_back("contig", std::move(contig_));
    result.emplace_back("begin", begin_);
    result.emplace_back("bases", std::move(letters_));
    return result;
  }

  const VerbContext context_;
  const TokenLayout& layout_;
  std::optional<IndexedFasta> fasta_;
  ScanPlanner planner_;
  ScanAssembler assembler_;
  // Of the piece that is being taken.
  std::string contig_;
  int64_t begin_ = 0;
  std::string letters_;
  std::vector<double> values_;
};

}  // namespace

SettingList scan_verb_settings(ScanOptions& options) {
  SettingList settings = scan_settings(options);
  settings.push_back(
      Setting("fasta-ref", "FILE", "reference FASTA, of which inputs are then regions", &options.fasta)
          .not_at(Door::http, "a server reads no files that clients name; it has its own (-f)")
          .not_at(Door::mcp, "that of the program (-f)")
          .not_at(Door::plugin, "plugins cannot scan"));
  return settings;
}

void describe_scan(const std::function<void(const SettingList&)>& see) {
  ScanOptions options;
  see(scan_verb_settings(options));
}

std::unique_ptr<Verb> make_scan_verb(const VerbContext& context, const ReadSettings& read) {
  ScanOptions options;
  check_fasta("scan", read(scan_verb_settings(options)), options.fasta);
  const ModelConfig& config = context.served.config();
  complete_scan_options(options, config.sequence_positions(), config.layout.bases());
  std::optional<IndexedFasta> fasta;
  if (!options.fasta.empty()) fasta.emplace(open_fasta(options.fasta, context.log));
  return std::make_unique<ScanVerb>(context, options, std::move(fasta));
}

}  // namespace carbon
