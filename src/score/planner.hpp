// From a sequence to its windows, each with its request to the model: where the windows of a long sequence
// start, and which bases are reported from each window (docs/conventions.md, "Score windows"). The windows
// are pure arithmetic on lengths, without sequences or a model.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/score/run.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// Bases [begin, end) are scored as one window. Of these, [take, end) are reported from it, because earlier
/// windows do not reach them; so a base is reported from the window that gives it the longest left context.
/// Positions are 0-based in reading direction.
struct SlidingWindow {
  size_t begin = 0, take = 0, end = 0;
};

/// Returns windows that start at 0, stride, 2*stride, ... until one reaches `length`; none for an empty
/// sequence. Window and stride are positive multiples of the bases of a token, and stride <= window.
std::vector<SlidingWindow> sliding_windows(size_t length, size_t window, size_t stride);

/// The largest default window in bp (8,190 6-mers).
inline constexpr size_t kMaxDefaultWindow = 49140;
/// min(49,140, k * (max_positions - 2)) bp for tokens of `bases` = k bases. For tokens of one base it is what
/// fits, max_positions - 1: such models were trained on windows that fill their context.
size_t default_window(size_t max_positions, size_t bases);
/// Half a window in bp, rounded down to a multiple of `bases`, at least that.
size_t default_stride(size_t window, size_t bases);

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
