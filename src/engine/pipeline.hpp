// reader + planner -> engines -> ordered writer, as threads with bounded queues between them: one a stage,
// and one an engine.
//
// An item carries its jobs through; items reach the consumer in the order they were produced. The first
// exception of any stage stops the others and is rethrown to the caller. A signal can stop them between two
// batches.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/bounded_queue.hpp"
#include "src/base/stop_signals.hpp"
#include "src/engine/lanes.hpp"
#include "src/engine/scorer.hpp"

namespace carbon {

/// How many items without jobs the producer collects before it wakes the engine's thread.
inline constexpr size_t kItemsPerPush = 16;

/// `produce` runs in a thread of its own and calls its argument for every item; `consume` runs in another
/// thread and sees the items in order with their jobs' results; the first lane of `compute` runs on the
/// calling thread, each other one in its own.
///
/// With `stopped`, a SIGTERM, SIGINT or SIGHUP ends the run when the batches that lanes work on are consumed.
/// Then `stopped` is called with the signal and with what the consumer failed with, if it did. It must end
/// the process without unwinding: `produce` may still be running, in a read that nothing interrupts. A second
/// signal does what it would have done without `stopped`.
template <class Item>
void run_pipeline(const Compute<Item>& compute,
                  const std::function<void(const std::function<void(Item)>&)>& produce,
                  const std::function<void(Item&)>& consume,
                  const std::function<void(int, std::exception_ptr)>& stopped = nullptr) {
  BoundedQueue<Item> planned(kQueuedItems * compute.lanes.size()), computed(compute.queued_results);
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

  Lanes<Item> lanes(compute, planned, computed);
  lanes.run();
  std::exception_ptr failure = lanes.failure();
  if (failure) {
    signals.reset();  // from here a signal ends the process at once
  } else if (lanes.stopped()) {
    computed.close();
    consumer.join();
    stopped(signals->signal(), computed.failure());
  } else {
    computed.close();
  }
  producer.join();
  consumer.join();
  if (!failure) failure = computed.failure();
  if (!failure && signals && signals->signal() != 0) stopped(signals->signal(), nullptr);
  if (failure) std::rethrow_exception(failure);
}

/// The same for items whose jobs are ScoreJobs.
template <class Item>
void run_pipeline(Engines& engines, const std::function<void(const std::function<void(Item)>&)>& produce,
                  const std::function<void(Item&)>& consume,
                  const std::function<void(int, std::exception_ptr)>& stopped = nullptr) {
  Compute<Item> compute;
  for (size_t i = 0; i < engines.size(); ++i)
    compute.lanes.push_back(
        [&engine = engines[i]](std::span<ScoreJob* const> jobs) { score_jobs(engine, jobs); });
  compute.batch_tokens = engines.front().batch_tokens();
  run_pipeline<Item>(compute, produce, consume, stopped);
}

}  // namespace carbon
