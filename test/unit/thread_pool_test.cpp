// The pool of threads: each piece once, whatever else happens.
#include "src/base/threads.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// How often each piece was computed; threads are numbered below the size of the pool.
std::vector<int> counts_of(ThreadPool& pool, size_t pieces) {
  std::vector<std::atomic<int>> counts(pieces);
  pool.run(pieces, [&](size_t piece, size_t thread) {
    if (thread < static_cast<size_t>(pool.size())) ++counts[piece];
  });
  return {counts.begin(), counts.end()};
}

bool each_once(ThreadPool& pool, size_t pieces) {
  return counts_of(pool, pieces) == std::vector<int>(pieces, 1);
}

double cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

TEST_CASE("a pool computes each piece once") {
  for (const int threads : {1, 2, 3, 8, 192}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const size_t pieces : {0, 1, 2, 5, 191, 192, 193, 5000}) {
      CAPTURE(pieces);
      CHECK(each_once(pool, pieces));
    }
    for (size_t i = 0; i < 300; ++i) REQUIRE(each_once(pool, i % 7));
  }
}

TEST_CASE("what pieces write is seen after run()") {
  ThreadPool pool(4);
  std::vector<size_t> values(1000);
  for (size_t round = 1; round <= 200; ++round) {
    pool.run(values.size(), [&](size_t piece, size_t) { values[piece] += piece; });
    for (size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == round * i);
  }
}

TEST_CASE("all threads of a pool compute at the same time, each with a number") {
  for (const int threads : {2, 8, 64}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      std::barrier all(threads);  // no thread gets past it before each holds a piece
      std::vector<std::atomic<int>> seen(static_cast<size_t>(threads));
      pool.run(static_cast<size_t>(threads), [&](size_t, size_t thread) {
        all.arrive_and_wait();
        ++seen[thread];
      });
      for (const auto& count : seen) CHECK(count == 1);
    }
  }
}

TEST_CASE("an exception of a piece reaches the caller, and the pool goes on") {
  for (const int threads : {1, 2, 8}) {
    CAPTURE(threads);
    ThreadPool pool(threads);
    for (int round = 0; round < 50; ++round) {
      const auto one_fails = [](size_t piece, size_t) {
        if (piece == 40) throw Error("test", "piece 40");
      };
      CHECK_THROWS_WITH_AS(pool.run(1000, one_fails), "piece 40", Error);
      CHECK(each_once(pool, 100));
    }
    std::atomic<int> begun{0};
    const auto all_fail = [&](size_t, size_t) {
      ++begun;
      throw Error("test", "all");
    };
    CHECK_THROWS_AS(pool.run(50, all_fail), Error);
    CHECK(begun <= threads);  // none after the first exception of a thread
    CHECK(each_once(pool, 100));
  }
}

TEST_CASE("a run inside a piece is computed by the thread of that piece") {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> counts(50);
  std::atomic<bool> elsewhere{false};
  pool.run(50, [&](size_t piece, size_t) {
    const auto here = std::this_thread::get_id();
    pool.run(20, [&](size_t, size_t thread) {
      if (thread != 0 || std::this_thread::get_id() != here) elsewhere = true;
      ++counts[piece];
    });
  });
  CHECK(!elsewhere);
  for (const auto& count : counts) CHECK(count == 20);
}

TEST_CASE("several callers at once each get their pieces computed") {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round)
        if (!each_once(pool, 40)) ++wrong;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("a pool without work uses no CPU") {
  ThreadPool pool(192);
  ThreadPool small(2);
  CHECK(each_once(pool, 1000));
  CHECK(each_once(small, 1000));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(cpu_seconds() - before < 0.01);
}

TEST_CASE("a child process computes alone with a pool of its parent, and ends") {
  auto pool = std::make_unique<ThreadPool>(4);
  CHECK(each_once(*pool, 100));
  for (const bool busy : {false, true}) {
    CAPTURE(busy);
    const auto in_child = [&] {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // a thread that is not there would be waited for without end
        bool good = each_once(*pool, 100);
        good = good && each_once(*pool, 3);
        pool.reset();
        _exit(good ? 0 : 1);
      }
      int status = -1;
      waitpid(child, &status, 0);
      return status;
    };
    int status = -1;
    if (busy)
      pool->run(2, [&](size_t piece, size_t) {
        if (piece == 0) status = in_child();
      });
    else
      status = in_child();
    CHECK(status == 0);
    CHECK(each_once(*pool, 100));
  }
}

}  // namespace
}  // namespace carbon
