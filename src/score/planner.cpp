#include "src/score/planner.hpp"

#include <utility>

#include "src/score/requests.hpp"

namespace carbon {

void ScorePlanner::plan(SequencePlace place, std::string_view bases,
                        const std::function<void(ScoredWindow)>& take, const SequencesDone& done) const {
  const auto sequence = std::make_shared<ScoredSequence>();
  sequence->place = std::move(place);
  sequence->done = done;
  sequence->forward = to_upper(bases);
  if (strand_ != StrandChoice::forward) sequence->reverse = reverse_complement(sequence->forward);
  const std::vector<SlidingWindow> windows = sliding_windows(sequence->length(), window_, stride_);
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
