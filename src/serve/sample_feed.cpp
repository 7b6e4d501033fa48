#include "src/serve/sample_feed.hpp"

#include <utility>

namespace carbon {
namespace {

using std::chrono::steady_clock;

double seconds(steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

std::shared_ptr<SampleFeed> SampleFeed::attach(Request& sample, Work* work, Metrics& metrics,
                                               steady_clock::time_point arrived) {
  const auto feed = std::make_shared<SampleFeed>();
  feed->arrived_ = arrived;
  sample.started = [&metrics, arrived] { metrics.queued(seconds(steady_clock::now() - arrived)); };
  sample.progressed = [feed, work, &metrics](const Request& request, size_t added) {
    feed->drawn(request, added, metrics);
    if (work) work->wake();
  };
  return feed;
}

// `added` is 0 if the logits for the next 6-mer were not finite.
void SampleFeed::drawn(const Request& sample, size_t added, Metrics& metrics) {
  if (added == 0) return;
  const steady_clock::time_point now = steady_clock::now();
  if (last_) {
    metrics.next_token(seconds(now - *last_));
  } else {
    metrics.first_token(seconds(now - arrived_));
  }
  last_ = now;
  const std::lock_guard lock(mutex_);
  const auto from_end = [](auto& list, size_t n) { return list.end() - static_cast<ptrdiff_t>(n); };
  news_.kmers.insert(news_.kmers.end(), from_end(sample.kmers, added), sample.kmers.end());
  news_.logp = sample.logp;
  if (!sample.generation->rank) return;
  const std::span<const double> ranks = sample.values();
  news_.ranks.insert(news_.ranks.end(), from_end(ranks, added * kRankWidth), ranks.end());
}

SampleFeed::News SampleFeed::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace carbon
