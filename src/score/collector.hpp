// The scores of one sequence at a time in memory, with the sum that `carbon score` prints.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "src/score/options.hpp"
#include "src/score/sink.hpp"

namespace carbon {

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

}  // namespace carbon
