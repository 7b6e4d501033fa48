// Requests that wait for a device, those of each owner in the order of their arrival. Any thread may push.
// The scheduler of each device takes the requests that it can run next.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "src/engine/request.hpp"

namespace carbon {

class RequestQueue {
 public:
  /// Adds the requests. A parent is pushed before its children. Throws the failure given to fail().
  void push(const std::vector<RequestPtr>& requests);

  /// Takes the next requests for device `device`, of each owner until the device has `rows` rows of it, those
  /// included that it has already (`known`). Requests with the tokens of the one before add none, and are
  /// taken also after that, as is one for which `also` returns true. A request whose parent was taken by
  /// another device is left for that device. With `wait` it waits for at least one request. Returns no
  /// requests if there are none now or, with `wait`, if none will come. Throws the failure given to fail().
  std::vector<RequestPtr> take(int device, size_t rows, const std::map<uint64_t, size_t>& known, bool wait,
                               const std::function<bool(const Request&)>& also);

  /// Says that no more requests will be pushed.
  void close();
  /// From now on nothing is taken. The requests that a device has already taken are finished.
  void stop();
  bool stopped() const;
  /// From now on push() and take() throw `failure`. If it is called several times, the first failure counts.
  void fail(std::exception_ptr failure);
  std::exception_ptr failure() const;

 private:
  using Requests = std::deque<RequestPtr>;
  static bool is_for_device(const Request& request, int device);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Requests> waiting_;  // by owner; none is empty
  bool closed_ = false, stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace carbon
