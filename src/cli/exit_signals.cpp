#include "src/cli/exit_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "src/genome/output.hpp"

namespace carbon {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_files_and_die(int number) {
  die_by_signal(number);
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
