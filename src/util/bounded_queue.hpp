// A bounded first-in first-out queue between two threads, with an end and with failure.
//
// The producer pushes and closes; the consumer pops until empty. Either side may fail(): the other side's
// next call throws the same exception, so an error in any stage stops the pipeline and reaches the caller.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace carbon {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  /// Waits while the queue is full.
  void push(T value) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < capacity_ || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    items_.push_back(std::move(value));
    not_empty_.notify_one();
  }

  /// Waits while the queue is empty and open; nothing at the end.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty() || closed_ || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    if (items_.empty()) return std::nullopt;
    T value = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return value;
  }

  /// What is there now, if anything; never waits.
  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (items_.empty()) return std::nullopt;
    T value = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return value;
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
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable not_full_, not_empty_;
  std::deque<T> items_;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace carbon
