#include "src/engine/request_queue.hpp"

#include <algorithm>
#include <utility>

namespace carbon {

void RequestQueue::push(const std::vector<RequestPtr>& requests) {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  for (const RequestPtr& request : requests) waiting_[request->owner].push_back(request);
  changed_.notify_all();
}

bool RequestQueue::is_for_device(const Request& request, int device) {
  return !request.parent || request.parent->device == device;
}

std::vector<RequestPtr> RequestQueue::take(int device, size_t wanted, const std::map<uint64_t, size_t>& known,
                                           bool wait, const std::function<bool(const Request&)>& also) {
  std::unique_lock lock(mutex_);
  const auto has_for_device = [&](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(),
                       [&](const RequestPtr& request) { return is_for_device(*request, device); });
  };
  if (wait)
    changed_.wait(lock, [&] {
      return failure_ || stopped_ || (closed_ && waiting_.empty()) ||
             std::any_of(waiting_.begin(), waiting_.end(), has_for_device);
    });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<RequestPtr> taken;
  if (stopped_) return taken;
  for (auto& [owner, of_owner] : waiting_) {
    const auto before = known.find(owner);
    size_t rows = before == known.end() ? 0 : before->second;
    const size_t first = taken.size();
    // Those that are left move up at once: of the children of another device there may be thousands.
    auto left = of_owner.begin(), at = left;
    for (; at != of_owner.end(); ++at) {
      if (!is_for_device(**at, device)) {
        if (left != at) *left = std::move(*at);
        ++left;
        continue;
      }
      // Requests that read the rows of one run come one after the other.
      const bool same_rows = taken.size() > first && same_tokens(*taken.back(), **at);
      if (rows >= wanted && !same_rows && !also(**at)) break;
      (*at)->device = device;
      if (!same_rows) rows += (*at)->rows();
      taken.push_back(std::move(*at));
    }
    of_owner.erase(left, at);
  }
  std::erase_if(waiting_, [](const auto& entry) { return entry.second.empty(); });
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
