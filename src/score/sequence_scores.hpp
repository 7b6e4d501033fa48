// Log-probabilities of sequences in memory, as `carbon score` computes them on the forward strand.
//
// For callers that have the bases at hand and want numbers back; files, strands and formats belong to
// run_score().
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "src/engine/scorer.hpp"
#include "src/score/run.hpp"
#include "src/score/windows.hpp"

namespace carbon {

/// The job whose rows are the values of one window of an upper-case sequence; none if it would have no value.
std::vector<ScoreJob> window_jobs(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                                  const TokenLayout& layout);

struct SequenceScores {
  std::vector<double> values;  // nats, one a base or whole 6-mer; NaN where a letter is not A, C, G, T
  double sum = 0;              // of the values there are, in order
  size_t scored = 0;           // how many
};

/// Calls `take` with the index and scores of each sequence, in order. Sequences are upper-case; those longer
/// than the default window of `carbon score` go through its windows. Throws Error for a score that is not
/// finite.
void score_sequences(Engine& engine, ScoreLevel level, std::span<const std::string_view> sequences,
                     const std::function<void(size_t, const SequenceScores&)>& take);

/// The end of an upper-case sequence.
struct SequenceEnd {
  std::string_view sequence;
  size_t from = 0;  // a multiple of 6 before the sequence's length
};

/// The same for the bases from `from` on alone. No windows: each is given all bases before it, and a sequence
/// that does not fit the model is an Error.
void score_ends(Engine& engine, ScoreLevel level, std::span<const SequenceEnd> ends,
                const std::function<void(size_t, const SequenceScores&)>& take);

}  // namespace carbon
