// Log-probabilities of sequences in memory, as `carbon score` computes them.
//
// For callers that have the bases in memory and want numbers back. Files and formats belong to run_score().
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "src/engine/engine.hpp"
#include "src/score/collector.hpp"

namespace carbon {

/// Receives the index and the scores of a sequence. It is called in another thread than the caller's.
using TakeSequenceScores = std::function<void(size_t, const SequenceScores&)>;

/// Calls `take` for each sequence, in order. Sequences are in upper case. Throws Error for a score that is
/// not finite.
void score_sequences(Engine& engine, ScoreOptions options, std::span<const std::string_view> sequences,
                     const TakeSequenceScores& take);

/// The end of an upper-case sequence.
struct SequenceEnd {
  std::string_view sequence;
  size_t from = 0;  // a multiple of 6 before the sequence's length
};

/// The same for the bases from `from` on only, without windows and on the forward strand: each base has all
/// earlier bases of the sequence as its context. Throws Error for a sequence that does not fit the model.
void score_ends(Engine& engine, ScoreLevel level, std::span<const SequenceEnd> ends,
                const TakeSequenceScores& take);

}  // namespace carbon
