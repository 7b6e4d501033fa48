#include "src/score/run.hpp"

#include <array>
#include <cmath>
#include <deque>
#include <memory>

#include "src/base/error.hpp"
#include "src/engine/pipeline.hpp"
#include "src/marginals/base_scores.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/score/windows.hpp"
#include "src/score/writer.hpp"
#include "src/vep/variant.hpp"

namespace carbon {
namespace {

// A sequence being scored, upper-case; `reverse` is its reverse complement when that strand is read.
struct Source {
  SequencePlace place;
  std::string forward, reverse;

  size_t length() const { return forward.size(); }
  const std::string& strand(bool is_reverse) const { return is_reverse ? reverse : forward; }
};

// One window of a source on its way through the pipeline; a source without windows has one item without jobs.
struct Item {
  std::shared_ptr<const Source> source;
  SlidingWindow window;
  bool reverse = false, first = false, last = false;
  std::vector<ScoreJob> jobs;
};

using Emit = std::function<void(Item)>;

// Cuts sources into windows and windows into tokens.
class Planner {
 public:
  Planner(const TokenLayout& layout, const ScoreOptions& options) : layout_(layout), options_(options) {}

  // Emits windows so that both strands advance together over the forward coordinates.
  void plan(const std::shared_ptr<const Source>& source, const Emit& emit) const {
    const std::vector<SlidingWindow> windows =
        sliding_windows(source->length(), options_.window, options_.stride);
    const size_t n = windows.size();
    size_t forward = options_.strand == StrandChoice::reverse ? n : 0;
    size_t reverse = options_.strand == StrandChoice::forward ? 0 : n;  // read from the last window down
    bool first = true;
    if (n == 0) return emit({source, {}, false, true, true, {}});
    while (forward < n || reverse > 0) {
      const bool take_reverse = forward == n || (reverse > 0 && source->length() - windows[reverse - 1].end <
                                                                    windows[forward].take);
      const SlidingWindow& window = take_reverse ? windows[--reverse] : windows[forward++];
      emit({source, window, take_reverse, first, forward == n && reverse == 0,
            window_jobs(source->strand(take_reverse), window, options_.level, layout_)});
      first = false;
    }
  }

 private:
  TokenLayout layout_;
  const ScoreOptions& options_;
};

// Puts windows back together in forward order and hands positions to the writer.
class Assembler {
 public:
  Assembler(const ScoreOptions& options, ScoreWriter& writer) : options_(options), writer_(writer) {}

  void consume(const Item& item) {
    if (item.first) {
      source_ = item.source;
      emitted_ = 0;
      writer_.begin(source_->place);
    }
    if (!item.jobs.empty()) {
      if (options_.level == ScoreLevel::token)
        write_tokens(item);
      else
        take_bases(item);
    }
    if (item.last) writer_.end();
  }

 private:
  using Letters = std::array<double, ops::kLetters>;  // natural logs, A T C G of the forward strand

  [[noreturn]] void not_finite(int64_t position) const {
    throw Error("score", "non-finite score at " + source_->place.name + ":" + std::to_string(position + 1) +
                             "; the checkpoint's weights or activations are not finite");
  }

  void write_tokens(const Item& item) {
    const ScoreJob& job = item.jobs.front();
    const std::string& bases = source_->strand(item.reverse);
    for (size_t i = 0; i < job.rows.size(); ++i) {
      const size_t row = item.reverse ? job.rows.size() - 1 - i : i;
      const size_t at = item.window.take + row * kKmerLength;
      if (kmer_index(std::string_view(bases).substr(at, kKmerLength)) < 0) continue;
      const size_t begin = item.reverse ? source_->length() - at - kKmerLength : at;
      const int64_t absolute = source_->place.begin + static_cast<int64_t>(begin);
      if (!std::isfinite(job.rows[row])) not_finite(absolute);
      writer_.value({absolute, absolute + kKmerLength, job.rows[row], 'N', nullptr});
    }
  }

  void take_bases(const Item& item) {
    const std::vector<double>& rows = item.jobs.front().rows;
    std::deque<Letters>& track = tracks_[item.reverse ? 1 : 0];
    const size_t n = item.window.end - item.window.take;
    for (size_t i = 0; i < n; ++i) {
      const size_t at = item.reverse ? n - 1 - i : i;
      const double* logs = base_row(rows.data(), at / kKmerLength, at % kKmerLength);
      Letters& letters = track.emplace_back();
      for (int b = 0; b < static_cast<int>(ops::kLetters); ++b)
        letters[item.reverse ? complement_digit(b) : b] = logs[b];
    }
    emit_ready();
  }

  void emit_ready() {
    const bool use_forward = options_.strand != StrandChoice::reverse,
               use_reverse = options_.strand != StrandChoice::forward;
    while ((!use_forward || !tracks_[0].empty()) && (!use_reverse || !tracks_[1].empty())) {
      Letters letters = tracks_[use_forward ? 0 : 1].front();
      const char base = source_->forward[emitted_];
      const int digit = base_digit(base);
      const int64_t position = source_->place.begin + static_cast<int64_t>(emitted_);
      if (digit >= 0) {
        double logp = letters[digit];
        if (use_forward && use_reverse) {
          const Letters& other = tracks_[1].front();
          logp = (logp + other[digit]) / 2;
          for (size_t b = 0; b < ops::kLetters; ++b) letters[b] = (letters[b] + other[b]) / 2;
          normalise_logs(letters.data());
        }
        if (!std::isfinite(logp)) not_finite(position);
        writer_.value({position, position + 1, logp, base, letters.data()});
      }
      if (use_forward) tracks_[0].pop_front();
      if (use_reverse) tracks_[1].pop_front();
      ++emitted_;
    }
  }

  const ScoreOptions& options_;
  ScoreWriter& writer_;
  std::shared_ptr<const Source> source_;
  std::deque<Letters> tracks_[2];  // values from position emitted_ on: forward, reverse
  size_t emitted_ = 0;
};

void check_window(const ScoreOptions& options, size_t max_positions) {
  const size_t largest = kKmerLength * (max_positions - 1);
  if (options.window > largest)
    throw Error("score", "--window " + std::to_string(options.window) +
                             " does not fit the model's context of " + std::to_string(max_positions) +
                             " tokens; the largest that fits is " + std::to_string(largest));
  for (const auto& [name, value] :
       {std::pair("--window", options.window), std::pair("--stride", options.stride)})
    if (value == 0 || value % kKmerLength != 0)
      throw Error("score",
                  std::string(name) + " " + std::to_string(value) + ": expected a positive multiple of 6");
  if (options.stride > options.window)
    throw Error("score", "--stride " + std::to_string(options.stride) + " is larger than the window of " +
                             std::to_string(options.window) +
                             " bp: bases between windows would have no score");
}

}  // namespace

void run_score(Engines& engines, ScoreOptions options) {
  const ModelConfig& config = engines.front().config();
  const size_t max_positions = config.max_positions;
  if (options.window == 0) options.window = default_window(max_positions);
  if (options.stride == 0) options.stride = default_stride(options.window);
  check_window(options, max_positions);

  ScoreWriter writer(options.output, options.type, options.strand);
  Assembler assembler(options, writer);
  Progress progress(options.progress, "score", "bp");
  uint64_t done = 0;
  const Planner planner(config.layout, options);
  run_pipeline<Item>(
      engines,
      [&](const Emit& emit) {
        read_sequences("score", options.inputs, [&](SequencePlace place, const std::string& bases) {
          auto source = std::make_shared<Source>();
          source->place = std::move(place);
          source->forward = to_upper(bases);
          if (options.strand != StrandChoice::forward) source->reverse = reverse_complement(source->forward);
          planner.plan(source, emit);
        });
      },
      [&](const Item& item) {
        assembler.consume(item);
        done += item.window.end - item.window.take;
        progress.update(done, item.source->place.name);
      });
  progress.finish();
  writer.close();
}

}  // namespace carbon
