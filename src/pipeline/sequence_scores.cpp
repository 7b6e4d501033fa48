#include "src/pipeline/sequence_scores.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "src/fns/base_scores.hpp"
#include "src/util/error.hpp"

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
  std::vector<Item> items;
  size_t tokens = 0;
  const auto flush = [&] {
    std::vector<ScoreJob*> jobs;
    for (Item& item : items)
      for (ScoreJob& job : item.jobs) jobs.push_back(&job);
    score_jobs(engine, jobs);
    for (const Item& item : items) {
      check_finite(item);
      take(item.index, finished(item, level));
    }
    items.clear();
    tokens = 0;
  };
  for (size_t i = 0; i < sequences.size(); ++i) {
    Item& item = items.emplace_back();
    item.index = i;
    item.bases = sequences[i];
    for (const SlidingWindow& part : sliding_windows(item.bases.size(), window, default_stride(window)))
      for (ScoreJob& job : window_jobs(item.bases, part, level, engine.config().layout)) {
        tokens += job.cost();
        item.windows.push_back(part);
        item.jobs.push_back(std::move(job));
      }
    if (tokens >= engine.batch_tokens()) flush();
  }
  flush();
}

}  // namespace carbon
