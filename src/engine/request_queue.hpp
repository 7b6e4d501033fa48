// Requests that wait for a device, in the order of their priority and then of their arrival. Any thread may
// push; the scheduler of each device takes what it can run next.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "src/engine/request.hpp"

namespace carbon {

class RequestQueue {
 public:
  /// Adds the requests. A parent is pushed before its children. Throws what the queue has failed with.
  void push(const std::vector<RequestPtr>& requests);

  /// Takes the next requests for device `device`: until they have `rows` rows, and after that while
  /// `also` says yes to the next one. A request whose parent another device has taken stays for that device.
  /// With `wait` it waits for at least one. Empty: there is none now or, with `wait`, none will come. Throws
  /// what the queue has failed with.
  std::vector<RequestPtr> take(int device, size_t rows, bool wait,
                               const std::function<bool(const Request&)>& also);

  /// No more requests will be pushed.
  void close();
  /// Nothing more is to be taken. Requests that a device has taken are finished.
  void stop();
  bool stopped() const;
  /// Every later push and take throws `failure`. The first failure stays.
  void fail(std::exception_ptr failure);
  std::exception_ptr failure() const;

 private:
  bool may_take(const Request& request, int device) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RequestPtr> waiting_;
  bool closed_ = false, stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace carbon
