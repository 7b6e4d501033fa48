// Reader -> engine -> writer: items with requests go in, and come out in the same order, each when all of its
// requests are finished.
//
// One thread produces items (reads and plans), the calling thread and one for each further device compute,
// and one thread consumes items (writes). The bytes of the items between producer and consumer are bounded.
// The first exception of any thread stops the others and is rethrown to the caller. Items that are complete
// by then are still consumed.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/long_run.hpp"
#include "src/base/threads.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

/// Item: movable, with members `std::vector<RequestPtr> requests` (may be empty; parents before children) and
/// `size_t bytes() const`, its memory without the requests.
template <class Item>
class OrderedWriter {
 public:
  /// add() waits while at least `items` items are between producer and consumer and hold `bytes` bytes or
  /// more. `sizes` are those of the model.
  OrderedWriter(RequestQueue& queue, size_t bytes, size_t items, const ResultSizes& sizes)
      : queue_(queue), limit_(bytes), least_items_(items), sizes_(sizes) {}

  /// Adds an item, and its requests to the queue. Waits while there is no room. Throws the error given to
  /// fail().
  void add(Item item) {
    size_t bytes = sizeof(Slot) + item.bytes();
    for (const RequestPtr& request : item.requests) bytes += request->bytes(sizes_);
    const std::vector<RequestPtr> requests = item.requests;
    {
      std::unique_lock lock(mutex_);
      // The consumer may not have been woken for complete items, and has to make room now.
      if (is_full()) changed_.notify_all();
      changed_.wait(lock, [&] { return !is_full() || failure_; });
      if (failure_) std::rethrow_exception(failure_);
      slots_.push_back({std::move(item), bytes, requests.size()});
      held_ += bytes;
      Slot& slot = slots_.back();  // the reference stays valid until the slot is removed from the front
      for (const RequestPtr& request : requests)
        request->finished = [this, &slot](Request&) { finish(slot); };
      // Items without requests are complete at once. The consumer is not woken for each of them.
      if (requests.empty() && ++unannounced_ % kAnnounceEvery == 0) changed_.notify_all();
    }
    if (!requests.empty()) queue_.push(requests);
  }

  /// Says that no more items will be added.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Ends the consumer after the items that are complete now. After fail() it does nothing.
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = !failure_;
    changed_.notify_all();
  }
  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }
  std::exception_ptr failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  /// Whether requests of items are not finished yet.
  bool awaits_requests() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.pending > 0; });
  }

  /// Calls `consume` for the items in order until the last one, and `idle` (may be null) before it waits.
  void consume_all(const std::function<void(Item&)>& consume, const std::function<void()>& idle) {
    for (std::vector<Item> ready; next(ready, idle); ready.clear())
      for (Item& item : ready) consume(item);
  }

 private:
  struct Slot {
    Item item;
    size_t bytes = 0;
    size_t pending = 0;  // requests that are not finished yet
  };
  static constexpr size_t kAnnounceEvery = 256;

  void finish(Slot& slot) {
    const std::lock_guard lock(mutex_);
    if (--slot.pending == 0 && first_is_complete()) changed_.notify_all();
  }

  bool is_full() const { return held_ >= limit_ && slots_.size() >= least_items_; }
  bool first_is_complete() const { return !slots_.empty() && slots_.front().pending == 0; }

  // Takes the complete items at the front; false at the end.
  bool next(std::vector<Item>& ready, const std::function<void()>& idle) {
    std::unique_lock lock(mutex_);
    if (taken_ > 0) {
      held_ -= std::exchange(taken_, 0);
      changed_.notify_all();
    }
    if (last_) return false;
    if (!first_is_complete() && idle) {
      lock.unlock();
      idle();
      lock.lock();
    }
    changed_.wait(lock,
                  [&] { return failure_ || first_is_complete() || stopped_ || (closed_ && slots_.empty()); });
    if (failure_ && !first_is_complete()) std::rethrow_exception(failure_);
    // The engine may still be finishing items; the run does not wait for them.
    last_ = stopped_;
    for (; first_is_complete(); slots_.pop_front()) {
      taken_ += slots_.front().bytes;
      ready.push_back(std::move(slots_.front().item));
    }
    return !ready.empty();
  }

  RequestQueue& queue_;
  const size_t limit_, least_items_;
  const ResultSizes sizes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;
  size_t held_ = 0;   // bytes of all items that are not consumed yet
  size_t taken_ = 0;  // of these, the bytes of the items that the consumer is working on
  size_t unannounced_ = 0;
  bool closed_ = false, stopped_ = false;
  bool last_ = false;  // the consumer has got its last items
  std::exception_ptr failure_;
};

/// After a request to stop, the engine has this long to finish items. A pass of a large model takes minutes,
/// and a long sample has thousands of passes.
inline constexpr std::chrono::milliseconds kStopGrace{300};

/// The limit for the bytes of the items between producer and consumer: the results of four passes of
/// marginals of 6-mers. It is the same for tokens of fewer bases, whose requests are smaller and more.
inline size_t bytes_under_way(const Engine& engine) {
  return 4 * engine.pass_rows() * ops::kMarginals * sizeof(double);
}

/// Optional parts of run_ordered().
struct OrderedRun {
  /// So many items are planned ahead even if they hold more bytes than bytes_under_way(). It is for items
  /// that are large, of which a few must be ready so that passes are full.
  size_t least_items = 0;
  std::function<void()> idle;      // called by the consumer before it waits; may be null
  StopRequests* stop = nullptr;    // who may ask for an early end; null: nobody
  std::function<void()> stopping;  // called as soon as an early end is asked for; may be null
  /// Called after that by the consumer, within kStopGrace and the time that it takes to consume the items
  /// that are complete, with the first error or null. It must end the process, because the engine may still
  /// be in a pass, and `produce` in a read that cannot be interrupted.
  std::function<void(const std::exception_ptr&)> stopped;
  /// Called when `produce` throws while requests of its items are still to be computed. The run then
  /// finishes them before it throws the error. Null: it throws at once.
  std::function<void()> finishing;
};

/// Calls `produce` in one thread, with a function that takes an item, and `consume` in another thread, for
/// each item in order. Throws the first error of any thread. A request that is refused is an Error of the
/// run.
template <class Item>
void run_ordered(Engine& engine, const std::function<void(const std::function<void(Item)>&)>& produce,
                 const std::function<void(Item&)>& consume, const OrderedRun& run = {}) {
  RequestQueue queue;
  OrderedWriter<Item> writer(queue, bytes_under_way(engine), run.least_items, result_sizes(engine.config()));
  const auto fail = [&](const std::exception_ptr& failure) {
    writer.fail(failure);
    queue.fail(writer.failure());
  };
  const auto guarded = [&](const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  };
  std::promise<void> computed;
  const std::future<void> engine_end = computed.get_future();
  if (run.stop)
    run.stop->watch([&] {
      if (run.stopping) run.stopping();
      queue.stop();
      engine_end.wait_for(kStopGrace);
      writer.stop();
    });
  std::exception_ptr unread;  // why `produce` ended early, if the run goes on
  const auto produce_all = [&] {
    try {
      produce([&](Item item) { writer.add(std::move(item)); });
    } catch (...) {
      if (!run.finishing || writer.failure() || !writer.awaits_requests()) throw;
      unread = std::current_exception();
      run.finishing();
    }
  };
  std::thread producer, consumer;
  guarded([&] {
    consumer = start_thread(
        [&] {
          guarded([&] {
            writer.consume_all(
                [&](Item& item) {
                  for (const RequestPtr& request : item.requests)
                    if (request->outcome == Outcome::refused) throw Error("engine", request->problem);
                  consume(item);
                },
                run.idle);
          });
          if (writer.stopped()) guarded([&] { run.stopped(writer.failure()); });
        },
        "carbon-write");
    producer = start_thread(
        [&] {
          guarded([&] {
            produce_all();
            writer.close();
            queue.close();
          });
        },
        "carbon-read");
    engine.run(queue);
  });
  computed.set_value();
  if (run.stop) run.stop->ignore();
  if (producer.joinable()) producer.join();
  if (consumer.joinable()) consumer.join();
  if (const std::exception_ptr failure = writer.failure()) std::rethrow_exception(failure);
  if (unread) std::rethrow_exception(unread);
  if (run.stop && queue.stopped()) run.stopped(nullptr);  // asked for when all was done
}

}  // namespace carbon
