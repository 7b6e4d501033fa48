// From a sequence to its windows, each with its request to the model.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/score/options.hpp"
#include "src/score/windows.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// A sequence that is being scored, in upper case. `reverse` is its reverse complement if that strand is
/// read, else empty.
struct ScoredSequence {
  SequencePlace place;
  std::string forward, reverse;
  SequencesDone done = {};  // this one and those before it in the run

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

/// The request for one window of an upper-case sequence, or null if the window has no values. Row i of the
/// values belongs to the window's k-mer (take - begin) / k + i.
RequestPtr window_request(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                          const TokenLayout& layout);

class ScorePlanner {
 public:
  /// `options` are those that complete_score_options() has completed for the model of this layout.
  ScorePlanner(const TokenLayout& layout, const ScoreOptions& options)
      : layout_(layout),
        level_(options.level),
        strand_(options.strand),
        window_(options.window),
        stride_(options.stride) {}

  /// Calls `take` for the windows of a sequence, letters of any case: those of both strands in the order of
  /// the forward coordinates that they report.
  void plan(SequencePlace place, std::string_view bases, const std::function<void(ScoredWindow)>& take,
            const SequencesDone& done = {}) const;
  /// The same for the bases from `from` on, a multiple of a token's bases below the length, in one window.
  void plan_end(SequencePlace place, std::string_view bases, size_t from,
                const std::function<void(ScoredWindow)>& take) const;

 private:
  void plan_windows(ScoredSequence sequence, const std::vector<SlidingWindow>& windows,
                    const std::function<void(ScoredWindow)>& take) const;
  ScoredSequence prepared(SequencePlace place, std::string_view bases) const;

  TokenLayout layout_;
  ScoreLevel level_;
  StrandChoice strand_;
  size_t window_, stride_;
};

}  // namespace carbon
