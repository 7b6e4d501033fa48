#include "src/cli/signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/threads.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};

// A line of the log that a signal handler can write. The text is prepared beforehand, because a handler may
// not allocate memory, and lies in static storage.
class SignalLine {
 public:
  /// `text` is a whole line as the program's log writes it for `where` (StderrLog::error_line()).
  void prepare(const std::string& text, const char* where) {
    length_ = text.copy(text_, sizeof text_);
    time_at_ = program_log().time_place(where);
  }
  /// Puts the two digits of `number` at `place` of the line.
  void put_number(size_t place, int number) {
    text_[place] = static_cast<char>('0' + number / 10 % 10);
    text_[place + 1] = static_cast<char>('0' + number % 10);
  }
  /// Writes the line, with the time of now if it has a time. A signal handler may call it.
  void write() {
    if (time_at_ > 0) {
      const auto now = time_text();
      std::copy(now.begin(), now.end(), text_ + time_at_);
    }
    (void)!::write(STDERR_FILENO, text_, length_);
  }

 private:
  char text_[1024] = {};
  size_t length_ = 0, time_at_ = 0;  // time_at_ is 0 where the line has no time
};

// A signal handler can reach nothing but static storage.
SignalLine lost_file, crash;
size_t crash_number_at = 0;
// The handler survives an overflow of the ordinary stack because it has this one.
std::array<char, size_t{1} << 16> crash_stack;

// Removes temporary files and lets signal `number` kill the process. A handler must return after it: the
// signal takes effect then.
void die_by_signal(int number) {
  remove_unfinished_files();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  raise(number);  // in a handler it is blocked until that returns, then fatal
}

extern "C" void remove_files_and_die(int number) {
  die_by_signal(number);
}

extern "C" void report_lost_file(int) {
  lost_file.write();
  remove_unfinished_files();
  _exit(1);
}

extern "C" void report_crash(int number) {
  crash.put_number(crash_number_at, number);
  crash.write();
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

void report_lost_files() {
  lost_file.prepare(
      program_log().error_line("main",
                               "a model file was truncated while in use, or its disk failed; no "
                               "output file is complete. Run the command again, and do not "
                               "change the model files while it runs"),
      "main");
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

void report_plugin_crashes(const std::string& name) {
  const std::string text =
      program_log().error_line("plugin", "+" + printable(name.substr(0, 64)) +
                                             " crashed (signal 00) and the run was stopped; existing output "
                                             "files are complete. Please report this to its authors");
  crash.prepare(text, "plugin");
  crash_number_at = text.rfind("00)");
  const stack_t stack{crash_stack.data(), 0, crash_stack.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = report_crash;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

void end_by_signal(int number) {
  if (number == SIGINT) die_by_signal(number);
  remove_unfinished_files();
  _exit(128 + number);
}

namespace {

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
