#include "src/cli/exit_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "src/cli/signal_line.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/output.hpp"

namespace carbon {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_files_and_die(int number) {
  die_by_signal(number);
}

// A signal handler can reach nothing but static storage.
SignalLine lost_file;

extern "C" void report_lost_file(int) {
  lost_file.write();
  remove_unfinished_files();
  _exit(1);
}

}  // namespace

void remove_unfinished_files_on_signals() {
  struct sigaction action = {};
  action.sa_handler = remove_files_and_die;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (const int number : kSignals) {
    struct sigaction present = {};
    if (sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
}

void report_lost_files() {
  lost_file.prepare(
      program_log().error_line("main",
                               "a model file was truncated while in use, or its disk failed; no "
                               "output file is complete. Run the command again, and do not "
                               "change the model files while it runs"));
  struct sigaction action = {};
  action.sa_handler = report_lost_file;
  sigfillset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

void report_limits_of_files() {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

void end_by_signal(int number) {
  if (number == SIGINT) die_by_signal(number);
  remove_unfinished_files();
  _exit(128 + number);
}

void die_by_signal(int number) {
  remove_unfinished_files();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  raise(number);  // in a handler it is blocked until that returns, then fatal
}

}  // namespace carbon
