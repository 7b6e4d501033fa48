#include "src/score/sequence_scores.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "src/base/error.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/marginals/base_scores.hpp"
#include "src/score/requests.hpp"
#include "src/score/windows.hpp"

namespace carbon {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// One sequence and the requests of its windows.
struct Item {
  size_t index = 0;
  std::string_view bases;
  std::vector<SlidingWindow> windows;  // those that have a request
  std::vector<RequestPtr> requests;

  size_t bytes() const { return sizeof(*this) + windows.size() * sizeof(SlidingWindow); }
};

void add_values(const Item& item, size_t window_index, ScoreLevel level, std::vector<double>& values) {
  const SlidingWindow& window = item.windows[window_index];
  const std::span<const double> rows = item.requests[window_index]->values();
  if (level == ScoreLevel::token) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool known = kmer_index(item.bases.substr(window.take + i * kKmerLength, kKmerLength)) >= 0;
      values.push_back(known ? rows[i] : kMissing);
    }
    return;
  }
  for (size_t i = 0; i < window.end - window.take; ++i) {
    const int digit = base_digit(item.bases[window.take + i]);
    values.push_back(digit < 0 ? kMissing : base_logs(rows, i)[digit]);
  }
}

SequenceScores finished(const Item& item, ScoreLevel level) {
  SequenceScores scores;
  for (size_t i = 0; i < item.requests.size(); ++i) add_values(item, i, level, scores.values);
  for (const double value : scores.values) {
    if (std::isnan(value)) continue;
    scores.sum += value;
    ++scores.scored;
  }
  return scores;
}

// Looks at the outcome of the requests, because in the scores NaN also stands for a missing value.
void check_finite(const Item& item) {
  for (const RequestPtr& request : item.requests)
    if (request->outcome == Outcome::not_finite)
      throw Error("score", "non-finite score in sequence " + std::to_string(item.index + 1) +
                               " of a batch; the checkpoint's weights or activations are not finite");
}

using Windows = std::function<std::vector<SlidingWindow>(size_t index)>;

// Scores the windows that `windows_of` returns for each sequence.
void score_windows(Engine& engine, ScoreLevel level, std::span<const std::string_view> sequences,
                   const Windows& windows_of, const TakeSequenceScores& take) {
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        for (size_t i = 0; i < sequences.size(); ++i) {
          Item item{i, sequences[i], {}, {}};
          for (const SlidingWindow& window : windows_of(i))
            if (RequestPtr request = window_request(sequences[i], window, level, engine.config().layout)) {
              item.windows.push_back(window);
              item.requests.push_back(std::move(request));
            }
          emit(std::move(item));
        }
      },
      [&](const Item& item) {
        check_finite(item);
        take(item.index, finished(item, level));
      });
}

// The model's inputs are what begins a sequence and all 6-mers except the last.
void check_end(const SequenceEnd& end, size_t index, size_t max_positions) {
  const std::string name = "sequence " + std::to_string(index + 1) + " of a batch";
  if (end.from % kKmerLength != 0 || end.from >= end.sequence.size())
    throw Error("score", name + " has " + std::to_string(end.sequence.size()) +
                             " bp and cannot be scored from base " + std::to_string(end.from) +
                             " on; expected a multiple of 6 below its length");
  if ((end.sequence.size() + kKmerLength - 1) / kKmerLength > max_positions)
    throw Error("score", name + " has " + std::to_string(end.sequence.size()) +
                             " bp and does not fit the model's context of " + std::to_string(max_positions) +
                             " tokens; the longest sequence that fits has " +
                             std::to_string(kKmerLength * max_positions) + " bp");
}

}  // namespace

void score_sequences(Engine& engine, ScoreLevel level, std::span<const std::string_view> sequences,
                     const TakeSequenceScores& take) {
  const size_t window = default_window(engine.config().sequence_positions());
  const size_t stride = default_stride(window);
  score_windows(
      engine, level, sequences,
      [&](size_t i) { return sliding_windows(sequences[i].size(), window, stride); }, take);
}

void score_ends(Engine& engine, ScoreLevel level, std::span<const SequenceEnd> ends,
                const TakeSequenceScores& take) {
  std::vector<std::string_view> sequences;
  for (size_t i = 0; i < ends.size(); ++i) {
    check_end(ends[i], i, engine.config().sequence_positions());
    sequences.push_back(ends[i].sequence);
  }
  score_windows(
      engine, level, sequences,
      [&](size_t i) {
        return std::vector<SlidingWindow>{{0, ends[i].from, sequences[i].size()}};
      },
      take);
}

}  // namespace carbon
