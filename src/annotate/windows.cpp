#include "src/annotate/windows.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace carbon {
namespace {

constexpr int64_t kPiece = int64_t{1} << 16;

std::optional<Interval> first_window(int64_t bases, const WindowSizes& sizes) {
  const int64_t size = std::min(sizes.window, bases / sizes.token * sizes.token);
  if (size == 0) return std::nullopt;
  return Interval{0, size};
}

std::optional<Interval> window_after(int64_t bases, const WindowSizes& sizes, const Interval& window) {
  if (window.end >= bases) return std::nullopt;
  // Of a contig that is shorter than a window, whose length is no multiple of a token's.
  const int64_t next = window.begin + sizes.window - sizes.overlap;
  const int64_t begin = bases < sizes.window ? bases - window.size() : std::min(next, bases - sizes.window);
  return Interval{begin, begin + window.size()};
}

double probability(const float* logits) {
  return 1 / (1 + std::exp(static_cast<double>(logits[0]) - static_cast<double>(logits[1])));
}

}  // namespace

void visit_windows(int64_t bases, const WindowSizes& sizes, std::span<const Interval> wanted, int64_t from,
                   const std::function<void(const AnnotatedWindow&)>& visit) {
  size_t at = 0;
  const auto is_wanted = [&](const Interval& window) {
    const int64_t begin = std::max(window.begin, from);
    while (at < wanted.size() && wanted[at].end <= begin) ++at;
    return window.end > begin && at < wanted.size() && wanted[at].begin < window.end;
  };
  std::optional<Interval> before;
  for (auto window = first_window(bases, sizes); window; window = window_after(bases, sizes, *window)) {
    if (!is_wanted(*window)) continue;
    if (before) visit({*before, window->begin, false});
    before = window;
  }
  if (before) visit({*before, bases, true});
}

int64_t count_windows(int64_t bases, const WindowSizes& sizes) {
  if (bases < sizes.token) return 0;
  if (bases < sizes.window) return bases % sizes.token == 0 ? 1 : 2;
  const int64_t step = sizes.window - sizes.overlap;
  return 1 + (bases - sizes.window + step - 1) / step;
}

void MeanProbabilities::add(const Interval& window, int64_t token, std::span<const float> logits) {
  const int64_t first = std::max(window.begin, begin_);
  if (first >= window.end) return;
  sums_.resize(std::max(sums_.size(), static_cast<size_t>(window.end - begin_)));
  const int64_t classes = 2, strand = classes * token;
  for (int64_t base = first; base < window.end; ++base) {
    const int64_t offset = base - window.begin;
    const float* const row = logits.data() + offset / token * 2 * strand + offset % token * classes;
    Sum& sum = sums_[static_cast<size_t>(base - begin_)];
    sum.plus += probability(row);
    sum.minus += probability(row + strand);
    ++sum.count;
  }
}

void MeanProbabilities::finish(int64_t end) {
  while (begin_ < end) {
    const auto n = static_cast<size_t>(std::min(kPiece, end - begin_)), known = std::min(n, sums_.size());
    plus_.assign(n, 0.0f);
    minus_.assign(n, 0.0f);
    for (size_t i = 0; i < known; ++i) {
      const Sum& sum = sums_[i];
      if (sum.count == 0) continue;
      plus_[i] = static_cast<float>(sum.plus / static_cast<double>(sum.count));
      minus_[i] = static_cast<float>(sum.minus / static_cast<double>(sum.count));
    }
    emit_(begin_, plus_, minus_);
    sums_.erase(sums_.begin(), sums_.begin() + static_cast<ptrdiff_t>(known));
    begin_ += static_cast<int64_t>(n);
  }
}

void MeanProbabilities::skip(int64_t begin) {
  if (begin <= begin_) return;
  sums_.erase(sums_.begin(),
              sums_.begin() + std::min(static_cast<ptrdiff_t>(sums_.size()), ptrdiff_t{begin - begin_}));
  begin_ = begin;
}

}  // namespace carbon
