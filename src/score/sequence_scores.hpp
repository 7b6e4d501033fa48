// Log-probabilities of sequences in memory, as `carbon score` computes them.
//
// For callers that have the bases in memory and want numbers back. Files and formats belong to run_score().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/score/assembler.hpp"
#include "src/score/run.hpp"

namespace carbon {

class Engine;

/// The scores of a sequence in forward order.
struct SequenceScores {
  std::vector<double> values;  // nats, one per base or per whole k-mer; NaN where a letter is not A, C, G, T
  double sum = 0;              // of the values that are not NaN, in order
  size_t scored = 0;           // how many values are not NaN
};

/// Keeps the values that a ScoreAssembler gives it. At level `token` it takes those of one strand; the k-mers
/// of the reverse strand end where the sequence ends, and their values are in forward order, too.
class ScoreCollector final : public ScoreSink {
 public:
  /// `bases` are those of a token.
  ScoreCollector(ScoreLevel level, size_t bases);

  void begin(const SequencePlace& sequence) override;
  void value(const ScoredValue& value) override;
  void end() override {}

  /// Hands over the scores of the sequence that ended last.
  SequenceScores take() { return std::move(scores_); }

 private:
  int64_t width_;      // bases per value
  int64_t begin_ = 0;  // of the sequence
  SequenceScores scores_;
};

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
