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
std::atomic<bool> reloads{false}, hung_up{false}, over{false};
sem_t wake;
struct sigaction before[std::size(kSignals)];

// A hang-up keeps its meaning while a service with `reload` comes to its end.
void restore(bool all) {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (all || kSignals[i] != SIGHUP || !reloads) sigaction(kSignals[i], &before[i], nullptr);
}

extern "C" void note_signal(int number) {
  if (number == SIGHUP && reloads) {
    hung_up = true;
    sem_post(&wake);
    return;
  }
  int none = 0;
  if (!came.compare_exchange_strong(none, number)) return;
  restore(false);
  sem_post(&wake);
}

// Calls what the signals ask for, until they are no longer watched.
void wait_for_signals(const std::function<void()>& request, const std::function<void()>& reload) {
  bool asked = false;
  do {
    while (sem_wait(&wake) != 0) {
    }
    if (hung_up.exchange(false)) reload();
    if (came != 0 && !std::exchange(asked, true)) request();
  } while (!over);
}

}  // namespace

StopSignals::StopSignals(std::function<void()> request, std::function<void()> reload) {
  came = 0;
  reloads = reload != nullptr;
  hung_up = over = false;
  sem_init(&wake, 0, 0);
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  watcher_ = start_thread(
      [request = std::move(request), reload = std::move(reload)] { wait_for_signals(request, reload); });
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // interrupted reads and writes continue
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
}

StopSignals::~StopSignals() {
  restore(true);
  over = true;
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
