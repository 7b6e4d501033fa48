#include "src/cli/crash_guard.hpp"

#include <signal.h>

#include <array>

#include "src/base/json.hpp"
#include "src/cli/exit_signals.hpp"
#include "src/cli/signal_line.hpp"
#include "src/cli/stderr_log.hpp"

namespace carbon {
namespace {

// A signal handler can reach nothing but static storage.
SignalLine line;
size_t number_at = 0;
// Of its own, so that the handler survives an overflow of the ordinary stack.
std::array<char, size_t{1} << 16> handler_stack;

extern "C" void report_crash(int number) {
  line.put_number(number_at, number);
  line.write();
  die_by_signal(number);
}

}  // namespace

void report_plugin_crashes(const std::string& name) {
  const std::string text =
      program_log().error_line("plugin", "+" + printable(name.substr(0, 64)) +
                                             " crashed (signal 00) and the run was stopped; existing output "
                                             "files are complete. Please report this to its authors");
  line.prepare(text);
  number_at = text.rfind("00)");
  const stack_t stack{handler_stack.data(), 0, handler_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = report_crash;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

}  // namespace carbon
