#include "src/cli/stop_signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "src/base/threads.hpp"
#include "src/cli/exit_signals.hpp"
#include "src/files/output.hpp"

namespace carbon {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

// A signal handler can only use static storage.
std::atomic<int> came{0};
sem_t wake;
struct sigaction before[std::size(kSignals)];

void restore() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

extern "C" void note_signal(int number) {
  int none = 0;
  if (!came.compare_exchange_strong(none, number)) return;
  restore();
  sem_post(&wake);
}

}  // namespace

StopSignals::StopSignals(std::function<void()> request) {
  came = 0;
  sem_init(&wake, 0, 0);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  watcher_ = start_thread([request = std::move(request)] {
    while (sem_wait(&wake) != 0) {
    }
    if (came != 0) request();
  });
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes continue
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
}

StopSignals::~StopSignals() {
  restore();
  sem_post(&wake);
  watcher_.join();
  sem_destroy(&wake);
}

int StopSignals::signal() {
  return came;
}

std::string SignalStop::asked_by() const {
  // A signal that came when all was done is still told of after ignore().
  return StopSignals::signal() != 0 ? signal_name(StopSignals::signal()) : "";
}

void SignalStop::end() {
  if (status_) {
    remove_unfinished_files();
    _exit(*status_);
  }
  end_by_signal(StopSignals::signal());
}

std::string signal_name(int number) {
  return number == SIGTERM ? "SIGTERM" : number == SIGINT ? "SIGINT" : "SIGHUP";
}

}  // namespace carbon
