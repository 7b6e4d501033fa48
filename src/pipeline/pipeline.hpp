// reader + planner -> engine -> ordered writer, as three threads with bounded queues between them.
//
// An item carries its jobs through; items reach the consumer in the order they were produced. The first
// exception of any stage stops the others and is rethrown to the caller. A signal can stop them between two
// batches.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "src/pipeline/scorer.hpp"
#include "src/util/bounded_queue.hpp"
#include "src/util/stop_signals.hpp"

namespace carbon {

/// Items waiting on either side of the engine: enough to hide reading and writing, and a bound on memory.
inline constexpr size_t kQueuedItems = 64;
/// How many items without jobs the producer collects before it wakes the engine's thread.
inline constexpr size_t kItemsPerPush = 16;

/// What the queue of planned items fails with when a signal asks for a stop.
struct StopRequested {};

/// What Item::jobs holds.
template <class Item>
using JobOf = typename decltype(Item::jobs)::value_type;

/// Cuts a queue of items into batches for the engine. Item: movable, with a member `std::vector<Job> jobs`
/// (may be empty; a Job is as in jobs.hpp).
template <class Item>
class Batcher {
  using Job = JobOf<Item>;

 public:
  Batcher(BoundedQueue<Item>& queue, size_t tokens) : queue_(queue), limit_(tokens) {}

  /// Waits for an item and takes what else there is into `batch`, which is empty, until it costs `tokens`;
  /// false at the end. An item joins even a full batch when its jobs share the runs of others, as those of
  /// duplicate records and of a split multi-allelic site do. Throws what the queue failed with, whatever
  /// items there are.
  bool next(std::vector<Item>& batch) {
    if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
    if (waiting_.empty() && !queue_.pop(waiting_)) return false;
    DistinctJobs<Job> distinct;  // moving an item leaves its jobs where they are
    for (size_t tokens = 0; batch.size() < kQueuedItems;) {
      if (waiting_.empty() && !queue_.try_pop(waiting_)) break;
      Item& item = waiting_.front();
      size_t cost = 0;
      bool shared = true;
      for (const Job& job : item.jobs) {
        const Job* first = distinct.find(job);
        cost += first != nullptr ? job.cost_beside(*first) : job.cost();
        shared = shared && first != nullptr;
      }
      if (!shared && tokens >= limit_) break;
      tokens += cost;
      for (const Job& job : item.jobs) distinct.add(job);
      batch.push_back(std::move(item));
      waiting_.pop_front();
    }
    return true;
  }

 private:
  BoundedQueue<Item>& queue_;
  size_t limit_;
  std::deque<Item> waiting_;
};

/// The engine's stage: fills in the results of a batch of jobs.
template <class Item>
struct Compute {
  std::function<void(std::span<JobOf<Item>* const>)> run;
  size_t batch_tokens = 0;               // a batch is closed when it costs as much
  size_t queued_results = kQueuedItems;  // items that may wait with their results: less where these are large
};

/// `produce` runs in a thread of its own and calls its argument for every item; `consume` runs in another
/// thread and sees the items in order with their jobs' results; `compute` runs on the calling thread.
///
/// With `stopped`, a SIGTERM, SIGINT or SIGHUP ends the run when the batch that the engine works on is
/// consumed. Then `stopped` is called with the signal and with what the consumer failed with, if it did. It
/// must end the process without unwinding: `produce` may still be running, in a read that nothing interrupts.
/// A second signal does what it would have done without `stopped`.
template <class Item>
void run_pipeline(const Compute<Item>& compute,
                  const std::function<void(const std::function<void(Item)>&)>& produce,
                  const std::function<void(Item&)>& consume,
                  const std::function<void(int, std::exception_ptr)>& stopped = nullptr) {
  BoundedQueue<Item> planned(kQueuedItems), computed(compute.queued_results);
  std::optional<StopSignals> signals;
  if (stopped) signals.emplace([&] { planned.fail(std::make_exception_ptr(StopRequested())); });
  std::thread producer([&] {
    try {
      std::vector<Item> ready;
      produce([&](Item item) {
        const bool work = !item.jobs.empty();
        ready.push_back(std::move(item));
        if (work || ready.size() == kItemsPerPush) planned.push(ready);
      });
      planned.push(ready);
      planned.close();
    } catch (...) {
      planned.fail(std::current_exception());
    }
  });
  std::thread consumer([&] {
    try {
      for (std::deque<Item> items; computed.pop(items);)
        for (; !items.empty(); items.pop_front()) consume(items.front());
    } catch (...) {
      computed.fail(std::current_exception());
    }
  });

  std::exception_ptr failure;
  try {
    Batcher<Item> batcher(planned, compute.batch_tokens);
    for (std::vector<Item> batch; batcher.next(batch);) {
      std::vector<JobOf<Item>*> jobs;
      for (Item& item : batch)
        for (JobOf<Item>& job : item.jobs) jobs.push_back(&job);
      compute.run(jobs);
      computed.push(batch);
    }
    computed.close();
  } catch (const StopRequested&) {
    computed.close();
    consumer.join();
    stopped(signals->signal(), computed.failure());
  } catch (...) {
    failure = std::current_exception();
    signals.reset();  // from here a signal ends the process at once
    planned.fail(failure);
    computed.fail(failure);
  }
  producer.join();
  consumer.join();
  if (!failure) failure = computed.failure();
  if (!failure && signals && signals->signal() != 0) stopped(signals->signal(), nullptr);
  if (failure) std::rethrow_exception(failure);
}

/// The same for items whose jobs are ScoreJobs.
template <class Item>
void run_pipeline(Engine& engine, const std::function<void(const std::function<void(Item)>&)>& produce,
                  const std::function<void(Item&)>& consume,
                  const std::function<void(int, std::exception_ptr)>& stopped = nullptr) {
  const auto score = [&](std::span<ScoreJob* const> jobs) { score_jobs(engine, jobs); };
  run_pipeline<Item>(Compute<Item>{score, engine.batch_tokens()}, produce, consume, stopped);
}

}  // namespace carbon
