#include "src/score/planner.hpp"

#include <algorithm>
#include <utility>

namespace carbon {

std::vector<SlidingWindow> sliding_windows(size_t length, size_t window, size_t stride) {
  std::vector<SlidingWindow> windows;
  size_t covered = 0;
  for (size_t begin = 0; covered < length; begin += stride) {
    const size_t end = std::min(begin + window, length);
    windows.push_back({begin, covered, end});
    covered = end;
  }
  return windows;
}

size_t default_window(size_t max_positions, size_t bases) {
  if (bases == 1) return max_positions - 1;
  return max_positions > 2 ? std::min(kMaxDefaultWindow, bases * (max_positions - 2)) : bases;
}

size_t default_stride(size_t window, size_t bases) {
  return std::max(bases, bases * (window / (2 * bases)));
}

RequestPtr window_request(std::string_view sequence, const SlidingWindow& window, ScoreLevel level,
                          const TokenLayout& layout) {
  std::string_view bases = sequence.substr(window.begin, window.end - window.begin);
  const auto request = std::make_shared<Request>();
  request->head = HeadKind::marginals;
  const size_t first_row = (window.take - window.begin) / layout.bases();
  request->want_begin = layout.lead() + first_row;
  if (level == ScoreLevel::token) {
    bases.remove_suffix(bases.size() % layout.bases());  // a partial k-mer has no value
    const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
    if (kmers.size() <= first_row) return nullptr;
    request->head = HeadKind::token_logprobs;
    request->targets.assign(kmers.begin() + static_cast<ptrdiff_t>(first_row), kmers.end());
  }
  request->tokens = window_tokens(bases, layout);
  return request;
}

ScoredSequence ScorePlanner::prepared(SequencePlace place, std::string_view bases) const {
  ScoredSequence sequence{std::move(place), to_upper(bases), {}};
  if (strand_ != StrandChoice::forward) sequence.reverse = reverse_complement(sequence.forward);
  return sequence;
}

void ScorePlanner::plan(SequencePlace place, std::string_view bases,
                        const std::function<void(ScoredWindow)>& take, const SequencesDone& done) const {
  ScoredSequence sequence = prepared(std::move(place), bases);
  sequence.done = done;
  plan_windows(std::move(sequence), sliding_windows(bases.size(), window_, stride_), take);
}

void ScorePlanner::plan_end(SequencePlace place, std::string_view bases, size_t from,
                            const std::function<void(ScoredWindow)>& take) const {
  plan_windows(prepared(std::move(place), bases), {{0, from, bases.size()}}, take);
}

void ScorePlanner::plan_windows(ScoredSequence planned, const std::vector<SlidingWindow>& windows,
                                const std::function<void(ScoredWindow)>& take) const {
  const auto sequence = std::make_shared<const ScoredSequence>(std::move(planned));
  const size_t n = windows.size();
  size_t forward = strand_ == StrandChoice::reverse ? n : 0;
  size_t reverse = strand_ == StrandChoice::forward ? 0 : n;  // read from the last window down
  bool first = true;
  if (n == 0) return take({sequence, {}, false, true, true, {}});
  while (forward < n || reverse > 0) {
    const bool take_reverse = forward == n || (reverse > 0 && sequence->length() - windows[reverse - 1].end <
                                                                  windows[forward].take);
    const SlidingWindow& window = take_reverse ? windows[--reverse] : windows[forward++];
    ScoredWindow item{sequence, window, take_reverse, first, forward == n && reverse == 0, {}};
    if (RequestPtr request = window_request(sequence->strand(take_reverse), window, level_, layout_))
      item.requests.push_back(std::move(request));
    take(std::move(item));
    first = false;
  }
}

}  // namespace carbon
