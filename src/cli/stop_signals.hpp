// Turns signals into a request to stop at a safe point instead of at once.
//
// While a StopSignals exists, the first SIGTERM, SIGINT or SIGHUP calls a function in an ordinary thread. A
// second signal has its earlier effect, usually the end of the program. The caller decides what the request
// means.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "src/base/stop.hpp"

namespace carbon {

/// At most one may exist at a time. A signal that was ignored before stays ignored.
class StopSignals {
 public:
  /// `request` is called at most once, in a separate thread, and must not throw. With `reload`, SIGHUP does
  /// not ask for a stop, but calls `reload` in that thread, each time that it comes.
  explicit StopSignals(std::function<void()> request, std::function<void()> reload = nullptr);
  /// Restores the earlier effects of the signals.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The number of the signal that arrived while the last StopSignals existed, or 0.
  static int signal();

 private:
  std::thread watcher_;
};

/// The signals as StopRequests of a run.
class SignalStop final : public StopRequests {
 public:
  /// `status`: that of the process at an end() after a signal; none: the signal's.
  explicit SignalStop(std::optional<int> status = std::nullopt) : status_(status) {}
  /// From the next watch() on a hang-up is not a request to stop, but calls `reload`, which must not throw.
  void on_hang_up(std::function<void()> reload) { reload_ = std::move(reload); }
  void watch(std::function<void()> request) override { signals_.emplace(std::move(request), reload_); }
  void ignore() override { signals_.reset(); }
  std::string asked_by() const override;
  /// Ends the process with the given status, or with 128 + number; for SIGINT by the signal itself.
  [[noreturn]] void end() override;

 private:
  std::optional<int> status_;
  std::function<void()> reload_;
  std::optional<StopSignals> signals_;
};

/// "SIGTERM" and the like.
std::string signal_name(int number);

}  // namespace carbon
