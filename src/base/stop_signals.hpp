// Signals as a request to stop where it is safe, instead of at once.
//
// While a StopSignals lives, the first SIGTERM, SIGINT or SIGHUP calls a function in an ordinary thread; a
// second one does what it did before. What to do about the request is the caller's business.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace carbon {

/// Only one at a time. A signal that was ignored stays ignored.
class StopSignals {
 public:
  /// `request` is called at most once, in a thread of its own, and must not throw.
  explicit StopSignals(std::function<void()> request);
  /// The signals do again what they did before.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came, or 0.
  int signal() const;

 private:
  std::thread watcher_;
};

/// "SIGTERM" and the like.
std::string signal_name(int number);

}  // namespace carbon
