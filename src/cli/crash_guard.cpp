#include "src/cli/crash_guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "src/base/json.hpp"
#include "src/cli/exit_signals.hpp"
#include "src/cli/stderr_log.hpp"

namespace carbon {
namespace {

// A signal handler can reach nothing but static storage.
char line[1024];
size_t line_length = 0, time_at = 0, number_at = 0;  // time_at is 0 where the line has no time

extern "C" void report_crash(int number) {
  line[number_at] = static_cast<char>('0' + number / 10 % 10);
  line[number_at + 1] = static_cast<char>('0' + number % 10);
  if (time_at > 0) {
    const auto now = time_text();
    std::copy(now.begin(), now.end(), line + time_at);
  }
  (void)!write(STDERR_FILENO, line, line_length);
  die_by_signal(number);
}

}  // namespace

CrashGuard::CrashGuard(const std::string& name) : stack_(size_t{1} << 16) {
  const std::string text = program_log().error_line(
      "plugin", "+" + printable(name.substr(0, 64)) +
                    " crashed while it ran; no output file is complete, tell its authors (signal 00)");
  line_length = text.copy(line, sizeof line);
  number_at = text.rfind("00)");
  constexpr std::string_view before_time = "{\"time\":\"";
  time_at = text.starts_with(before_time) ? before_time.size() : 0;
  const stack_t stack{stack_.data(), 0, stack_.size()};
  sigaltstack(&stack, &old_stack_);
  struct sigaction action = {};
  action.sa_handler = report_crash;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
}

CrashGuard::~CrashGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  sigaltstack(&old_stack_, nullptr);
}

}  // namespace carbon
