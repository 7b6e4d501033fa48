#include "src/serve/dna_scan.hpp"

#include <optional>
#include <utility>

#include "src/base/lists.hpp"
#include "src/base/numbers.hpp"
#include "src/scan/assembler.hpp"
#include "src/scan/planner.hpp"
#include "src/serve/dna_request.hpp"
#include "src/serve/item_batches.hpp"
#include "src/serve/model_work.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

ScanOptions read_scan_options(const Fields& fields, size_t bases) {
  ScanOptions options;
  options.strand = read_strand(fields, options.strand);
  options.level = fields.choice("level", options.level, kScanLevelWords);
  options.frames = static_cast<int>(fields.whole("frames", 0, 1, static_cast<int64_t>(bases)));
  if (options.frames > 0 && bases % static_cast<size_t>(options.frames) != 0)
    fields.fail("frames", "must be " + or_list(frame_counts(bases)));
  options.context = static_cast<int64_t>(read_bp(fields, "context"));
  return options;
}

namespace {

class DnaScan final : public ModelWork {
 public:
  using ModelWork::ModelWork;

 private:
  void begin(const Fields& fields) override {
    const std::string sequence = sent_sequence(fields, service().limits());
    const size_t bases = served().config().layout.bases();
    ScanOptions options = read_scan_options(fields, bases);
    fields.refuse_others();
    tell(fields);
    const size_t max_positions = served().config().sequence_positions();
    complete_scan_options(options, max_positions, bases);
    const ScanGrid grid = make_scan_grid(options.context, max_positions, bases);
    plan(sequence, ScanPlanner(grid, options), options.level);
    run(spans_.begin(result_sizes(served().config())));
  }

  void plan(const std::string& sequence, const ScanPlanner& planner, ScanLevel level) {
    const auto length = static_cast<int64_t>(sequence.size());
    const ScanPiece piece{"sequence", 0, length, 0, length};
    size_t bases = 0;
    planner.spans(piece,
                  [&](const TrackSpan& span) { bases += static_cast<size_t>(span.end - span.window.begin); });
    check_reads(bases / planner.tracks().size(), service().limits(), "context");
    assembler_.emplace(planner.tracks(), level, served().config().layout.bases(),
                       [this](const ScannedBase& base) { add_base(base); });
    planner.plan(
        piece,
        [&](int64_t begin, int64_t end) {
          return sequence.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        },
        served().config().layout, [&](ScanItem item) { spans_.add(std::move(item)); });
    length_ = sequence.size();
    answer_ = "{\"sequence_length\":";
    append_integer(length_, answer_);
    answer_ += ",\"letters\":\"ACGT\",\"logp\":[";
  }

  void finished() override {
    for (const ScanItem& span : spans_.end()) assembler_->consume(span);
    if (!spans_.done()) return run(spans_.begin(result_sizes(served().config())));
    add_nulls(length_);
    answer_read(spans_.tokens(), std::move(answer_) + "]}");
  }

  // For the bases up to `position`, which have no values.
  void add_nulls(size_t position) {
    for (; done_ < position; ++done_) answer_ += done_ == 0 ? "null" : ",null";
  }

  void add_base(const ScannedBase& base) {
    add_nulls(static_cast<size_t>(base.position));
    answer_ += done_ == 0 ? "[" : ",[";
    for (const size_t digit : kOutputOrder) {
      if (digit != kOutputOrder[0]) answer_ += ',';
      append_json(base.logp[digit], answer_);
    }
    answer_ += ']';
    ++done_;
  }

  std::optional<ScanAssembler> assembler_;
  ItemBatches<ScanItem> spans_;
  size_t length_ = 0, done_ = 0;  // bases of the sequence; those that the answer has
  std::string answer_;            // as far as it is known
};

}  // namespace

WorkPtr make_dna_scan(const ServedModel& served, HttpExchangePtr exchange) {
  return std::make_shared<DnaScan>(served, std::move(exchange));
}

}  // namespace carbon
