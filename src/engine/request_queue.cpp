#include "src/engine/request_queue.hpp"

#include <algorithm>
#include <utility>

namespace carbon {

void RequestQueue::push(const std::vector<RequestPtr>& requests) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  for (const RequestPtr& request : requests) {
    auto at = waiting_.end();
    while (at != waiting_.begin() && (*std::prev(at))->priority < request->priority) --at;
    waiting_.insert(at, request);
  }
  changed_.notify_all();
}

bool RequestQueue::may_take(const Request& request, int device) const {
  return !request.parent || request.parent->device == device;
}

std::vector<RequestPtr> RequestQueue::take(int device, size_t wanted, bool wait,
                                           const std::function<bool(const Request&)>& also) {
  std::unique_lock lock(mutex_);
  const auto first_for_device = [&] {
    return std::find_if(waiting_.begin(), waiting_.end(),
                        [&](const RequestPtr& request) { return may_take(*request, device); });
  };
  if (wait)
    changed_.wait(lock, [&] {
      return failure_ || stopped_ || (closed_ && waiting_.empty()) || first_for_device() != waiting_.end();
    });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<RequestPtr> taken;
  if (stopped_) return taken;
  size_t rows = 0;
  for (auto at = first_for_device(); at != waiting_.end();) {
    if (!may_take(**at, device)) {
      ++at;
      continue;
    }
    // Requests that read the rows of one run come one after the other.
    const bool same_rows = !taken.empty() && same_tokens(*taken.back(), **at);
    if (rows >= wanted && !same_rows && !also(**at)) break;
    (*at)->device = device;
    if (!same_rows) rows += (*at)->rows();
    taken.push_back(std::move(*at));
    at = waiting_.erase(at);
  }
  // Another device may be waiting for the last request, which this one has taken.
  if (closed_ && waiting_.empty()) changed_.notify_all();
  return taken;
}

void RequestQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void RequestQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool RequestQueue::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void RequestQueue::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(failure);
  changed_.notify_all();
}

std::exception_ptr RequestQueue::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace carbon
