// Signals: those that end the process, when temporary files are removed first, and those that ask a run to
// stop at a safe point instead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "src/base/long_run.hpp"

namespace carbon {

/// Installs handlers for SIGINT, SIGTERM and SIGHUP that remove temporary files before the signal ends the
/// process. A signal that is ignored stays ignored.
void remove_unfinished_files_on_signals();

/// Installs a handler for SIGBUS, which the system sends when a mapped file became shorter or its disk
/// failed: an error line says so, temporary files are removed, and the process ends with status 1. To be
/// called after the log is set up.
void report_lost_files();

/// Ignores SIGXFSZ, so that a limit on the size of files is an error of writing, as a full disk is.
void report_limits_of_files();

/// While a plugin runs in this process, a crash is reported by its name before it ends the program: from now
/// until the process ends SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write `[E::plugin] +NAME crashed`,
/// remove unfinished outputs and end the process by that signal. Call it once.
void report_plugin_crashes(const std::string& name);

/// Removes temporary files and ends the process as after signal `number`: with status 128 + number, and for
/// SIGINT by the signal itself, because a shell stops its loop only if the program was killed by it.
[[noreturn]] void end_by_signal(int number);

/// While it exists, the first SIGTERM, SIGINT or SIGHUP calls a function in an ordinary thread. A second
/// signal has its earlier effect, usually the end of the program. The caller decides what the request means.
///
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
