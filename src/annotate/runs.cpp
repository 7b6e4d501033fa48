#include "src/annotate/runs.hpp"

#include <algorithm>
#include <cstddef>

namespace carbon {
namespace {

using Read = std::function<void(int64_t begin, std::span<float> values)>;

constexpr int64_t kPiece = int64_t{1} << 16;
// Runs that lie in memory before those are united that belong together.
constexpr size_t kMostApart = size_t{1} << 16;

void find_raw_runs(int64_t bases, const Read& read, const std::function<void(const Interval&)>& found) {
  std::vector<float> values;
  bool coding = false;
  int64_t first = 0;
  for (int64_t begin = 0; begin < bases; begin += kPiece) {
    values.resize(static_cast<size_t>(std::min(kPiece, bases - begin)));
    read(begin, values);
    for (size_t i = 0; i < values.size(); ++i) {
      if ((values[i] > 0.5f) == coding) continue;
      coding = !coding;
      const int64_t at = begin + static_cast<int64_t>(i);
      if (coding)
        first = at;
      else
        found({first, at});
    }
  }
  if (coding) found({first, bases});
}

/// Where an end of a run goes. Positions and probabilities are those around the run.
class EndSearch {
 public:
  EndSearch(int64_t bases, const Read& read, const RunRules& rules)
      : bases_(bases), read_(read), rules_(rules) {}

  /// Runs whose ends would cross vanish.
  Interval moved(const Interval& run) {
    const int64_t first = new_first(run), last = new_last(run);
    return {first, std::max(first, last + 1)};
  }

 private:
  struct Step {
    int64_t at;
    float drop = 0;
  };

  // The first base of the run, after which probabilities rise from the base before.
  int64_t new_first(const Interval& run) {
    const int64_t first = run.begin, last = run.end - 1;
    const int64_t lowest = std::max<int64_t>(1, first - rules_.outward);
    const int64_t highest = std::min(last, first + rules_.inward);
    load(lowest - 1, highest + 1);
    const float own = at(first);
    Step outward{first}, inward{first};
    if (rules_.outward > 0) search(outward, own, first, lowest, -1, -1);
    if (rules_.inward > 0) search(inward, own, highest, std::max<int64_t>(1, first), -1, -1);
    return inward.drop > outward.drop ? inward.at : outward.at;
  }

  // The last base of the run, after which they fall.
  int64_t new_last(const Interval& run) {
    const int64_t first = run.begin, last = run.end - 1;
    const int64_t highest = std::min(bases_ - 1, last + rules_.outward) - 1;
    const int64_t lowest = std::max(first, last - rules_.inward);
    load(lowest, std::max(highest, last) + 2);
    const float own = at(last);
    Step outward{last}, inward{last};
    if (rules_.outward > 0) search(outward, own, last, highest, 1, 1);
    if (rules_.inward > 0) search(inward, own, lowest, last - 1, 1, 1);
    return inward.drop > outward.drop ? inward.at : outward.at;
  }

  // The largest drop from a base to its neighbour, over the bases from `from` to `to`.
  void search(Step& best, float own, int64_t from, int64_t to, int64_t step, int64_t neighbour) const {
    const double low = rules_.stop_ratio * static_cast<double>(own);
    int64_t run = 0;
    for (int64_t base = from; step > 0 ? base <= to : base >= to; base += step) {
      run = static_cast<double>(at(base)) <= low ? run + 1 : 0;
      if (rules_.stop_run > 0 && run == rules_.stop_run) return;
      const float drop = at(base) - at(base + neighbour);
      if (drop > best.drop) best = {base, drop};
    }
  }

  void load(int64_t begin, int64_t end) {
    begin_ = std::max<int64_t>(0, begin);
    values_.resize(static_cast<size_t>(std::min(end, bases_) - begin_));
    read_(begin_, values_);
  }
  float at(int64_t base) const { return values_[static_cast<size_t>(base - begin_)]; }

  const int64_t bases_;
  const Read& read_;
  const RunRules& rules_;
  int64_t begin_ = 0;
  std::vector<float> values_;
};

// Sorts, and unites runs that overlap or are nearer than `gap` bases.
void unite(std::vector<Interval>& runs, int64_t gap) {
  std::sort(runs.begin(), runs.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Interval& run : runs) {
    if (kept > 0 && run.begin - runs[kept - 1].end < std::max<int64_t>(gap, 1))
      runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
    else
      runs[kept++] = run;
  }
  runs.resize(kept);
}

}  // namespace

std::vector<Interval> coding_runs(int64_t bases, const Read& read, const RunRules& rules) {
  std::vector<Interval> runs;
  size_t most = kMostApart;
  EndSearch search(bases, read, rules);
  const auto is_short = [&](const Interval& run) { return run.size() < rules.min_run; };
  // A contig may have a run every few bases before they are united and short ones are dropped. Those found so
  // far may be united at any time, because later runs then join them as they would have joined their parts;
  // and short ones may be dropped that no later run reaches.
  find_raw_runs(bases, read, [&](const Interval& raw) {
    const Interval run = search.moved(raw);
    if (run.size() == 0) return;
    runs.push_back(run);
    if (runs.size() < most) return;
    unite(runs, rules.min_gap);
    const int64_t reached = raw.end - rules.outward - std::max<int64_t>(rules.min_gap, 1);
    std::erase_if(runs, [&](const Interval& early) { return early.end <= reached && is_short(early); });
    most = std::max(kMostApart, 2 * runs.size());
  });
  unite(runs, rules.min_gap);
  std::erase_if(runs, is_short);
  return runs;
}

}  // namespace carbon
