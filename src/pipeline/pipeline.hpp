// reader + planner -> engine -> ordered writer, as three threads with bounded queues between them.
//
// An item carries its ScoreJobs through; items reach the consumer in the order they were produced. The first
// exception of any stage stops the others and is rethrown to the caller.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "src/pipeline/scorer.hpp"
#include "src/util/bounded_queue.hpp"

namespace carbon {

/// Items waiting on either side of the engine: enough to hide reading and writing, and a bound on memory.
inline constexpr size_t kQueuedItems = 64;

/// Cuts a queue of items into batches for the engine. Item: movable, with a member `std::vector<ScoreJob>
/// jobs` (may be empty).
template <class Item>
class Batcher {
 public:
  Batcher(BoundedQueue<Item>& queue, size_t tokens) : queue_(queue), limit_(tokens) {}

  /// Waits for an item and takes what else there is, until the batch costs `tokens`; empty at the end. A job
  /// that repeats one of the batch costs nothing, so duplicate records join even a full batch.
  std::vector<Item> next() {
    std::vector<Item> batch;
    DistinctJobs distinct;  // moving an item leaves its jobs where they are
    size_t tokens = 0;
    for (auto item = held_ ? std::exchange(held_, std::nullopt) : queue_.pop(); item;
         item = batch.size() < kQueuedItems ? queue_.try_pop() : std::nullopt) {
      size_t cost = 0;
      for (const ScoreJob& job : item->jobs)
        if (!distinct.find(job)) cost += job.cost();
      if (cost > 0 && !batch.empty() && tokens >= limit_) {
        held_ = std::move(item);
        break;
      }
      tokens += cost;
      batch.push_back(std::move(*item));
      for (const ScoreJob& job : batch.back().jobs) distinct.add(job);
    }
    return batch;
  }

 private:
  BoundedQueue<Item>& queue_;
  size_t limit_;
  std::optional<Item> held_;  // one too many for the batch before
};

/// `produce` runs in a thread of its own and calls its argument for every item; `consume` runs in another
/// thread and sees the items in order with their jobs' results; the engine runs on the calling thread.
template <class Item>
void run_pipeline(Engine& engine, const std::function<void(const std::function<void(Item)>&)>& produce,
                  const std::function<void(Item&)>& consume) {
  BoundedQueue<Item> planned(kQueuedItems), scored(kQueuedItems);
  std::thread producer([&] {
    try {
      produce([&](Item item) { planned.push(std::move(item)); });
      planned.close();
    } catch (...) {
      planned.fail(std::current_exception());
    }
  });
  std::thread consumer([&] {
    try {
      while (auto item = scored.pop()) consume(*item);
    } catch (...) {
      scored.fail(std::current_exception());
    }
  });

  std::exception_ptr failure;
  try {
    Batcher<Item> batcher(planned, engine.batch_tokens());
    for (auto batch = batcher.next(); !batch.empty(); batch = batcher.next()) {
      std::vector<ScoreJob*> jobs;
      for (Item& item : batch)
        for (ScoreJob& job : item.jobs) jobs.push_back(&job);
      score_jobs(engine, jobs);
      for (Item& item : batch) scored.push(std::move(item));
    }
    scored.close();
  } catch (...) {
    failure = std::current_exception();
    planned.fail(failure);
    scored.fail(failure);
  }
  producer.join();
  consumer.join();
  if (!failure) failure = scored.failure();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace carbon
