// Joins the results of a sequence's windows in forward order and gives the values to the writer.
//
// It knows neither files nor formats; those belong to the writer.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "src/score/requests.hpp"
#include "src/score/writer.hpp"

namespace carbon {

/// A sequence that is being scored, in upper case. `reverse` is its reverse complement if that strand is
/// read, else empty.
struct ScoredSequence {
  SequencePlace place;
  std::string forward, reverse;

  size_t length() const { return forward.size(); }
  const std::string& strand(bool is_reverse) const { return is_reverse ? reverse : forward; }
};

/// One window of a sequence. A sequence without windows is one item without requests.
struct ScoredWindow {
  std::shared_ptr<const ScoredSequence> sequence;
  SlidingWindow window;
  bool reverse = false;              // which strand
  bool first = false, last = false;  // among the windows of the sequence
  std::vector<RequestPtr> requests;  // one or none

  size_t bytes() const { return sizeof(*this) + window.end - window.take; }
};

class ScoreAssembler {
 public:
  ScoreAssembler(const ScoreOptions& options, ScoreWriter& writer) : options_(options), writer_(writer) {}

  /// Takes the windows of a sequence in order. If both strands are read, their windows advance together over
  /// the forward coordinates. Throws Error for a value that is not finite.
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
  size_t emitted_ = 0;             // bases written
};

}  // namespace carbon
