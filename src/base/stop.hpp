// A wish from outside that a long run end early, where it is safe. The command line makes one from signals.
#pragma once

#include <functional>
#include <string>

namespace carbon {

class StopRequests {
 public:
  virtual ~StopRequests() = default;
  /// From now on the first wish calls `request`, in an ordinary thread. It must not throw.
  virtual void watch(std::function<void()> request) = 0;
  /// From now on a wish does what it would have done without this object.
  virtual void ignore() = 0;
  /// Who asked, for messages; "" if nobody has.
  virtual std::string asked_by() const = 0;
  /// Ends the process, as whoever asked expects it.
  [[noreturn]] virtual void end() = 0;
};

}  // namespace carbon
