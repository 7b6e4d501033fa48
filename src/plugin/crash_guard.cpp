#include "src/plugin/crash_guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "src/genome/output.hpp"

namespace carbon {
namespace {

// A signal handler can reach nothing but static storage.
char message[256];
size_t message_length = 0;

extern "C" void report_crash(int number) {
  (void)!write(STDERR_FILENO, message, message_length);
  char digits[] = " (signal 00)\n";
  digits[9] = static_cast<char>('0' + number / 10 % 10);
  digits[10] = static_cast<char>('0' + number % 10);
  (void)!write(STDERR_FILENO, digits, sizeof digits - 1);
  die_by_signal(number);
}

}  // namespace

CrashGuard::CrashGuard(const std::string& name) : stack_(size_t{1} << 16) {
  const std::string text = "[E::plugin] +" + name.substr(0, 64) +
                           " crashed while it ran; no output file is complete, tell its authors";
  message_length = std::min(text.size(), sizeof message);
  std::memcpy(message, text.data(), message_length);
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
