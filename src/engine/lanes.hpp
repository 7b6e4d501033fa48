// Batches of planned items for several engines at a time, each in a thread of its own, and their results in
// the order of the items.
//
// Whichever engine is free takes the next batch. Which one that is shows nowhere: not in the results, which
// depend on a job alone, and not in their order.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/base/bounded_queue.hpp"
#include "src/base/threads.hpp"
#include "src/engine/jobs.hpp"

namespace carbon {

/// Items that wait for an engine, for each of them: enough to hide reading and writing, and a bound on
/// memory.
inline constexpr size_t kQueuedItems = 64;

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

/// The engines' stage: a lane fills in the results of a batch of jobs, and is called by one thread at a time.
template <class Item>
struct Compute {
  std::vector<std::function<void(std::span<JobOf<Item>* const>)>> lanes;
  size_t batch_tokens = 0;               // a batch is closed when it costs as much
  size_t queued_results = kQueuedItems;  // items that may wait with their results: less where these are large
};

template <class Item>
class Lanes {
 public:
  Lanes(const Compute<Item>& compute, BoundedQueue<Item>& planned, BoundedQueue<Item>& computed)
      : compute_(compute), planned_(planned), computed_(computed), batcher_(planned, compute.batch_tokens) {}

  /// Runs all lanes, until `planned` ends or fails or a lane throws; then both queues have failed.
  void run() {
    run_threads(compute_.lanes.size(), [this](size_t lane) { run_lane(lane); });
  }
  /// What stopped a lane, or null: what one of them or the other end of `computed` failed with first.
  std::exception_ptr failure() const { return failed_ ? computed_.failure() : nullptr; }
  /// `planned` failed with StopRequested. All batches that had been taken then are in `computed`.
  bool stopped() const { return stopped_; }

 private:
  void run_lane(size_t lane) {
    try {
      std::vector<Item> batch;
      for (uint64_t number = 0; take(batch, number); batch.clear()) {
        std::vector<JobOf<Item>*> jobs;
        for (Item& item : batch)
          for (JobOf<Item>& job : item.jobs) jobs.push_back(&job);
        compute_.lanes[lane](jobs);
        put(number, std::move(batch));
      }
    } catch (const StopRequested&) {
      const std::lock_guard lock(putting_);
      stopped_ = true;
    } catch (...) {
      fail(std::current_exception());
    }
  }

  bool take(std::vector<Item>& batch, uint64_t& number) {
    const std::lock_guard lock(taking_);
    if (!batcher_.next(batch)) return false;
    number = taken_++;
    return true;
  }

  // A lane that is ahead leaves its batch here and goes on, unless so many wait already that memory counts.
  void put(uint64_t number, std::vector<Item> batch) {
    std::unique_lock lock(putting_);
    next_moved_.wait(lock, [&] { return number < next_ + 2 * compute_.lanes.size() || failed_; });
    if (failed_) return;  // this lane ends when it asks for more
    finished_.emplace(number, std::move(batch));
    for (auto first = finished_.begin(); first != finished_.end() && first->first == next_;
         first = finished_.erase(first), ++next_)
      computed_.push(first->second);
    next_moved_.notify_all();
  }

  void fail(const std::exception_ptr& failure) {
    // The lock comes last: another lane may hold it and wait for room in a queue.
    computed_.fail(failure);
    planned_.fail(computed_.failure());
    const std::lock_guard lock(putting_);
    failed_ = true;
    next_moved_.notify_all();
  }

  const Compute<Item>& compute_;
  BoundedQueue<Item>& planned_;
  BoundedQueue<Item>& computed_;
  std::mutex taking_;
  Batcher<Item> batcher_;
  uint64_t taken_ = 0;

  std::mutex putting_;
  std::condition_variable next_moved_;
  std::map<uint64_t, std::vector<Item>> finished_;  // not yet in computed_
  uint64_t next_ = 0;                               // the first of those that are not
  bool failed_ = false, stopped_ = false;
};

}  // namespace carbon
