// Joins the results of a sequence's windows in forward order and gives the values to a sink, which writes
// them into a file (run.cpp) or keeps them in memory (sequence_scores.hpp).
//
// It knows neither files nor formats; those belong to the sink.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "kernels/ops.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/score/planner.hpp"

namespace carbon {

/// One scored base or 6-mer.
struct ScoredValue {
  int64_t begin = 0, end = 0;       // 0-based half-open, absolute, on the forward strand
  double logp = 0;                  // nats
  char base = 'N';                  // of the forward strand, in upper case; N for a 6-mer
  const double* letters = nullptr;  // natural logs of A, T, C, G of the forward strand; null for a 6-mer
};

/// Receives for each sequence begin(), its values in ascending forward coordinates, end(). Bases and 6-mers
/// that have no score are left out.
class ScoreSink {
 public:
  virtual ~ScoreSink() = default;
  virtual void begin(const SequencePlace& sequence) = 0;
  /// `value.letters` is valid during the call.
  virtual void value(const ScoredValue& value) = 0;
  virtual void end() = 0;
};

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
  void emit_base(Letters letters, const Letters* other);

  ScoreLevel level_;
  StrandChoice strand_;
  size_t bases_;
  ScoreSink& sink_;
  std::shared_ptr<const ScoredSequence> sequence_;
  std::deque<Letters> tracks_[2];  // of both strands: values from position emitted_ on
  size_t emitted_ = 0;             // the base that is handed on next
};

}  // namespace carbon
