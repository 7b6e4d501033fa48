// Signals as requests, in child processes; and how they end the batches of a pipeline.

#include "src/base/stop_signals.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <stdexcept>

#include "src/engine/pipeline.hpp"

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

struct Item {
  std::vector<ScoreJob> jobs;
};

}  // namespace

TEST_CASE("the first signal is a request, the second one ends the process") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const auto asked = [&](int times) {
      return in_child([&] {
        signal(number, SIG_DFL);
        std::promise<void> request;
        StopSignals signals([&] { request.set_value(); });
        if (signals.signal() != 0) return 1;
        for (int i = 0; i < times; ++i) {
          raise(number);
          request.get_future().wait();
        }
        return signals.signal() == number ? 42 : 2;
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

TEST_CASE("no batch begins after a failure, though items wait") {
  BoundedQueue<Item> queue(8);
  ScoreJob job;
  job.tokens = {1, 2, 3};
  std::vector<Item> items(3);
  for (Item& item : items) item.jobs.push_back(job), ++job.tokens[0];
  queue.push(items);
  Batcher<Item> batcher(queue, 1);
  std::vector<Item> batch;
  CHECK(batcher.next(batch));
  CHECK(batch.size() == 1);
  batch.clear();
  queue.fail(std::make_exception_ptr(StopRequested()));
  CHECK_THROWS_AS(batcher.next(batch), StopRequested);
}
