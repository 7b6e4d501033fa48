#include "src/score/sequence_scores.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "src/base/error.hpp"
#include "src/marginals/base_scores.hpp"

namespace carbon {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// One sequence and the jobs of its windows.
struct Item {
  size_t index = 0;
  std::string_view bases;
  std::vector<SlidingWindow> windows;  // those that have a job
  std::vector<ScoreJob> jobs;
};

void add_values(const Item& item, size_t job, ScoreLevel level, std::vector<double>& values) {
  const SlidingWindow& window = item.windows[job];
  const std::vector<double>& rows = item.jobs[job].rows;
  if (level == ScoreLevel::token) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool known = kmer_index(item.bases.substr(window.take + i * kKmerLength, kKmerLength)) >= 0;
      values.push_back(known ? rows[i] : kMissing);
    }
    return;
  }
  for (size_t i = 0; i < window.end - window.take; ++i) {
    const int digit = base_digit(item.bases[window.take + i]);
    values.push_back(digit < 0 ? kMissing : base_row(rows.data(), i / kKmerLength, i % kKmerLength)[digit]);
  }
}

SequenceScores finished(const Item& item, ScoreLevel level) {
  SequenceScores scores;
  for (size_t job = 0; job < item.jobs.size(); ++job) add_values(item, job, level, scores.values);
  for (const double value : scores.values) {
    if (std::isnan(value)) continue;
    scores.sum += value;
    ++scores.scored;
  }
  return scores;
}

// Missing values are NaN as well, so this looks at what the engine gave.
void check_finite(const Item& item) {
  for (const ScoreJob& job : item.jobs)
    for (const double value : job.rows)
      if (!std::isfinite(value))
        throw Error("score", "non-finite score in sequence " + std::to_string(item.index + 1) +
                                 " of a batch; the checkpoint's weights or activations are not finite");
}

// Items whose jobs wait for a forward pass of about a batch.
class Batches {
 public:
  Batches(Engine& engine, ScoreLevel level, const std::function<void(size_t, const SequenceScores&)>& take)
      : engine_(engine), level_(level), take_(take) {}

  void add(size_t index, std::string_view bases, const std::vector<SlidingWindow>& windows) {
    Item& item = items_.emplace_back();
    item.index = index;
    item.bases = bases;
    for (const SlidingWindow& part : windows)
      for (ScoreJob& job : window_jobs(bases, part, level_, engine_.config().layout)) {
        tokens_ += job.cost();
        item.windows.push_back(part);
        item.jobs.push_back(std::move(job));
      }
    if (tokens_ >= engine_.batch_tokens()) flush();
  }
  void flush() {
    std::vector<ScoreJob*> jobs;
    for (Item& item : items_)
      for (ScoreJob& job : item.jobs) jobs.push_back(&job);
    score_jobs(engine_, jobs);
    for (const Item& item : items_) {
      check_finite(item);
      take_(item.index, finished(item, level_));
    }
    items_.clear();
    tokens_ = 0;
  }

 private:
  Engine& engine_;
  ScoreLevel level_;
  const std::function<void(size_t, const SequenceScores&)>& take_;
  std::vector<Item> items_;
  size_t tokens_ = 0;
};

// 6-mers of which all but the last are inputs, after <dna>.
void check_end(const SequenceEnd& end, size_t index, size_t max_positions) {
  const std::string name = "sequence " + std::to_string(index + 1) + " of a batch";
  if (end.from % kKmerLength != 0 || end.from >= end.sequence.size())
    throw Error("score", name + " has no end that begins at " + std::to_string(end.from) +
                             "; a multiple of 6 before its " + std::to_string(end.sequence.size()) +
                             " bp is expected");
  if ((end.sequence.size() + kKmerLength - 1) / kKmerLength > max_positions)
    throw Error("score", name + " has " + std::to_string(end.sequence.size()) + " bp and does not fit the " +
                             std::to_string(max_positions) +
                             " tokens of the model's context; the longest sequence that fits has " +
                             std::to_string(kKmerLength * max_positions) + " bp");
}

}  // namespace

std::vector<ScoreJob> window_jobs(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                                  const TokenLayout& layout) {
  const std::string_view bases = sequence.substr(window.begin, window.end - window.begin);
  std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  ScoreJob job;
  job.want_begin = (window.take - window.begin) / kKmerLength;
  if (level == ScoreLevel::token) {
    kmers.resize(bases.size() / kKmerLength);  // a partial k-mer has no value of its own
    if (kmers.size() <= job.want_begin) return {};
    job.targets.assign(kmers.begin() + static_cast<ptrdiff_t>(job.want_begin), kmers.end());
  }
  // Row i predicts 6-mer i from <dna> and the 6-mers before it, so the last 6-mer is never an input.
  job.tokens.push_back(layout.dna_begin());
  job.tokens.insert(job.tokens.end(), kmers.begin(), kmers.end() - 1);
  std::vector<ScoreJob> out;
  out.push_back(std::move(job));
  return out;
}

void score_sequences(Engine& engine, ScoreLevel level, std::span<const std::string_view> sequences,
                     const std::function<void(size_t, const SequenceScores&)>& take) {
  const size_t window = default_window(engine.config().max_positions);
  const size_t stride = default_stride(window);
  Batches batches(engine, level, take);
  for (size_t i = 0; i < sequences.size(); ++i)
    batches.add(i, sequences[i], sliding_windows(sequences[i].size(), window, stride));
  batches.flush();
}

void score_ends(Engine& engine, ScoreLevel level, std::span<const SequenceEnd> ends,
                const std::function<void(size_t, const SequenceScores&)>& take) {
  Batches batches(engine, level, take);
  for (size_t i = 0; i < ends.size(); ++i) {
    check_end(ends[i], i, engine.config().max_positions);
    batches.add(i, ends[i].sequence, {{0, ends[i].from, ends[i].sequence.size()}});
  }
  batches.flush();
}

}  // namespace carbon
