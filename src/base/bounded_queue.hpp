// A bounded first-in first-out queue between two threads, with an end and with failure.
//
// The producer pushes and closes; the consumer pops until empty. Both hand over many items at a time, since
// waking the other thread costs more than reading and writing a record that needs no computing. Either side
// may fail(): the other side's next call throws the same exception, so an error in any stage stops the
// pipeline and reaches the caller.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace carbon {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  /// Moves all of `values` in and leaves it empty; waits while the queue is full.
  void push(std::vector<T>& values) {
    for (size_t next = 0; next < values.size();) {
      std::unique_lock lock(mutex_);
      not_full_.wait(lock, [&] { return items_.size() < capacity_ || failure_; });
      if (failure_) std::rethrow_exception(failure_);
      while (next < values.size() && items_.size() < capacity_) items_.push_back(std::move(values[next++]));
      not_empty_.notify_one();
    }
    values.clear();
  }

  /// Takes what is there, into `out`, which is empty; waits while there is nothing. False at the end.
  bool pop(std::deque<T>& out) {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty() || closed_ || failure_; });
    return take(out);
  }

  /// What is there now, if anything; never waits.
  bool try_pop(std::deque<T>& out) {
    const std::lock_guard lock(mutex_);
    return take(out);
  }

  /// No more pushes will come.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    not_full_.notify_all();
    not_empty_.notify_all();
  }

  /// What fail() was given, or null.
  std::exception_ptr failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  bool take(std::deque<T>& out) {
    if (failure_) std::rethrow_exception(failure_);
    if (items_.empty()) return false;
    out.swap(items_);
    not_full_.notify_one();
    return true;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<T> items_;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace carbon
