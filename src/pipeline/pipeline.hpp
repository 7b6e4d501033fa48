// reader + planner -> engine -> ordered writer, as three threads with bounded queues between them.
//
// An item carries its ScoreJobs through; items reach the consumer in the order they were produced. The first
// exception of any stage stops the others and is rethrown to the caller.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "src/pipeline/scorer.hpp"
#include "src/util/bounded_queue.hpp"

namespace carbon {

/// Items waiting on either side of the engine: enough to hide reading and writing, and a bound on memory.
inline constexpr size_t kQueuedItems = 64;

/// Item: movable, with a member `std::vector<ScoreJob> jobs` (may be empty).
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
    while (auto first = planned.pop()) {
      std::vector<Item> batch;
      batch.push_back(std::move(*first));
      const auto cost = [](const Item& item) {
        size_t tokens = 0;
        for (const ScoreJob& job : item.jobs) tokens += job.cost();
        return tokens;
      };
      for (size_t tokens = cost(batch.front());
           tokens < engine.batch_tokens() && batch.size() < kQueuedItems;) {
        auto more = planned.try_pop();
        if (!more) break;
        tokens += cost(*more);
        batch.push_back(std::move(*more));
      }
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
