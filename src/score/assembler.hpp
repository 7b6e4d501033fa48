// Puts the windows of a sequence back together in forward order and hands its values to the writer.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "src/score/requests.hpp"
#include "src/score/writer.hpp"

namespace carbon {

/// A sequence being scored, upper-case; `reverse` is its reverse complement when that strand is read.
struct ScoredSequence {
  SequencePlace place;
  std::string forward, reverse;

  size_t length() const { return forward.size(); }
  const std::string& strand(bool is_reverse) const { return is_reverse ? reverse : forward; }
};

/// One window of a sequence; a sequence without windows has one item without requests.
struct ScoredWindow {
  std::shared_ptr<const ScoredSequence> sequence;
  SlidingWindow window;
  bool reverse = false, first = false, last = false;  // of the windows of the sequence
  std::vector<RequestPtr> requests;                   // one or none

  size_t bytes() const { return sizeof(*this) + window.end - window.take; }
};

class ScoreAssembler {
 public:
  ScoreAssembler(const ScoreOptions& options, ScoreWriter& writer) : options_(options), writer_(writer) {}

  /// Takes the windows of a sequence, both strands advancing together over the forward coordinates. Throws
  /// Error for a value that is not finite.
  void consume(const ScoredWindow& item);

 private:
  using Letters = std::array<double, ops::kLetters>;  // natural logs, A T C G of the forward strand

  [[noreturn]] void not_finite(int64_t position) const;
  void write_tokens(const ScoredWindow& item);
  void take_bases(const ScoredWindow& item);
  void emit_ready();
  void write_base(Letters letters, const Letters* other);

  const ScoreOptions& options_;
  ScoreWriter& writer_;
  std::shared_ptr<const ScoredSequence> sequence_;
  std::deque<Letters> tracks_[2];  // values from position emitted_ on: forward, reverse
  size_t emitted_ = 0;
};

}  // namespace carbon
