// Joins the results of a sequence's windows in forward order and gives the values to a sink.
//
// It knows neither files nor formats; those belong to the sink.
#pragma once

#include <array>
#include <deque>
#include <memory>

#include "kernels/ops.hpp"
#include "src/score/planner.hpp"
#include "src/score/sink.hpp"

namespace carbon {

class ScoreAssembler {
 public:
  /// `bases` are those of a token.
  ScoreAssembler(const ScoreOptions& options, size_t bases, ScoreSink& sink)
      : level_(options.level), strand_(options.strand), bases_(bases), sink_(sink) {}

  /// Takes the windows of a sequence in order, their requests finished. If both strands are read, their
  /// windows advance together over the forward coordinates. Throws Error for a value that is not finite.
  void consume(const ScoredWindow& item);

 private:
  using Letters = std::array<double, ops::kLetters>;  // natural logs, A T C G of the forward strand

  void check_finite(double logp, int64_t position) const;
  void emit_tokens(const ScoredWindow& item);
  void take_bases(const ScoredWindow& item);
  void emit_ready();
  void emit_base(Letters letters, const Letters* other);

  ScoreLevel level_;
  StrandChoice strand_;
  size_t bases_;
  ScoreSink& sink_;
  std::shared_ptr<const ScoredSequence> sequence_;
  std::deque<Letters> tracks_[2];  // values from position emitted_ on: forward, reverse
  size_t emitted_ = 0;             // the base that is handed on next
};

}  // namespace carbon
