// Signals as wishes to stop, in child processes.

#include "src/cli/signals.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <stdexcept>

using namespace carbon;

namespace {

/// The exit status, or 128 + signal, of a child process.
int in_child(const std::function<int()>& action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("the first signal is a request, the second one ends the process") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const auto asked = [&](int times) {
      return in_child([&] {
        signal(number, SIG_DFL);
        std::promise<void> request;
        StopSignals signals([&] { request.set_value(); });
        if (StopSignals::signal() != 0) return 1;
        for (int i = 0; i < times; ++i) {
          raise(number);
          request.get_future().wait();
        }
        return StopSignals::signal() == number ? 42 : 2;
      });
    };
    CHECK(asked(1) == 42);
    CHECK(asked(2) == 128 + number);
    CHECK(signal_name(number) == (number == SIGTERM ? "SIGTERM" : number == SIGINT ? "SIGINT" : "SIGHUP"));
  }
}

TEST_CASE("afterwards signals do what they did before, and ignored ones are ignored throughout") {
  CHECK(in_child([] {
          signal(SIGHUP, SIG_IGN);
          signal(SIGTERM, [](int) { _exit(77); });
          bool requested = false;
          {
            StopSignals signals([&] { requested = true; });
            raise(SIGHUP);
          }
          raise(SIGHUP);
          if (requested) return 1;
          raise(SIGTERM);
          return 2;
        }) == 77);
}

TEST_CASE("a SignalStop says who asked, and ends the process as the signal would") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP})
    CHECK(in_child([&] {
            signal(number, SIG_DFL);
            SignalStop stop;
            std::promise<void> request;
            stop.watch([&] { request.set_value(); });
            if (!stop.asked_by().empty()) return 1;
            raise(number);
            request.get_future().wait();
            if (stop.asked_by() != signal_name(number)) return 2;
            stop.ignore();  // as a run does that was done when it was asked to stop
            if (stop.asked_by() != signal_name(number)) return 3;
            stop.end();
          }) == 128 + number);
}

TEST_CASE("with a function for it, a hang-up is no request to stop, also while one is carried out") {
  CHECK(in_child([] {
          signal(SIGHUP, SIG_DFL);
          signal(SIGTERM, SIG_DFL);
          std::atomic<int> reloads{0};
          std::promise<void> requested, go_on;
          int status = 42;
          {
            StopSignals signals(
                [&] {
                  requested.set_value();
                  go_on.get_future().wait();
                },
                [&] { ++reloads; });
            for (int i = 1; i <= 2; ++i) {
              raise(SIGHUP);
              while (reloads < i) usleep(1000);
            }
            if (StopSignals::signal() != 0) status = 1;
            raise(SIGTERM);
            requested.get_future().wait();
            raise(SIGHUP);
            go_on.set_value();
            while (reloads < 3) usleep(1000);
            if (StopSignals::signal() != SIGTERM) status = 2;
          }
          raise(SIGHUP);
          return status;
        }) == 128 + SIGHUP);
}
