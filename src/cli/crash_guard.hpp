// While a plugin runs in this process, a crash is reported by its name before it ends the program.
#pragma once

#include <signal.h>

#include <array>
#include <string>
#include <vector>

namespace carbon {

/// From construction to destruction SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT write `[E::plugin] +NAME
/// crashed`, remove unfinished outputs and end the process by that signal. One at a time.
class CrashGuard {
 public:
  explicit CrashGuard(const std::string& name);
  ~CrashGuard();
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;

 private:
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  std::vector<char> stack_;  // a handler of its own stack survives an overflow of the ordinary one
  stack_t old_stack_{};
  std::array<struct sigaction, kSignals.size()> old_{};
};

}  // namespace carbon
