// The limits of the HTTP server: times, slow readers, numbers of connections and of files.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/unit/http_client.hpp"
#include "test/unit/http_running.hpp"

using namespace carbon;

namespace {

const std::string kEcho = "GET /echo HTTP/1.1\r\nHost: here\r\n\r\n";
const std::string kLarge = "GET /large HTTP/1.1\r\nHost: here\r\n\r\n";

void sleep(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("requests have their time") {
  HttpOptions options;
  options.idle_seconds = 0.5;
  options.read_seconds = 0.15;
  RunningServer running(options);
  const auto start = std::chrono::steady_clock::now();
  HttpClient header(running.port());
  header.send("GET / HTT");
  HttpClient body(running.port());
  body.send("POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nACGT");
  HttpClient silent(running.port()), between(running.port());
  CHECK(between.ask(kEcho).status == 200);
  CHECK(header.read_answer().status == 408);
  CHECK(body.read_answer().status == 408);
  CHECK(seconds_since(start) >= 0.15);
  CHECK(silent.read_all().empty());
  CHECK(between.read_all().empty());
  CHECK(seconds_since(start) >= 0.5);
  const std::vector<HttpAccess> log = running.log(3);
  CHECK(log.size() == 3);
  CHECK(log[2].received == 4);
}

TEST_CASE("clients that read nothing delay nobody, and are given up") {
  HttpOptions options;
  SUBCASE("in time") {
    RunningServer running(options);
    // The large answer does not fit into the buffers of the sockets.
    HttpClient slow(running.port(), 8192), other(running.port());
    slow.send(kLarge);
    slow.read_some(100);
    for (int i = 0; i < 100; ++i) CHECK(other.ask(kEcho).status == 200);
    CHECK(running.log(100).size() == 100);
    CHECK(slow.read_all(RunningServer::kLarge).size() >= RunningServer::kLarge);
    CHECK(running.log(101).back().complete);
  }
  SUBCASE("too late") {
    options.write_seconds = 0.3;
    RunningServer running(options);
    HttpClient stuck(running.port(), 8192), stream(running.port(), 8192);
    stuck.send(kLarge);
    stream.send("GET /hold HTTP/1.1\r\nHost: here\r\n\r\n");
    const HttpExchangePtr held = running.hold();
    held->start({200, "text/plain", "", {}});
    for (int i = 0; i < 160; ++i) held->send(std::string(100000, 'x'));
    CHECK(running.gone(1) == 1);
    for (const HttpAccess& access : running.log(2)) {
      CHECK_FALSE(access.complete);
      CHECK(access.sent > 0);
      CHECK(access.sent < RunningServer::kLarge);
    }
    running.wait_for_connections(0);
  }
}

TEST_CASE("a client that reads slowly is given time") {
  HttpOptions options;
  options.write_seconds = 0.5;
  RunningServer running(options);
  HttpClient slow(running.port(), 8192);
  slow.send(kLarge);
  const auto start = std::chrono::steady_clock::now();
  double last = 0, longest = 0;
  while (last < 1.2) {
    slow.read_some(1000);  // far too little for the server's socket to ask for more
    sleep(0.01);
    const double now = seconds_since(start);
    longest = std::max(longest, now - last);
    last = now;
  }
  // On a busy machine it may have been too slow.
  if (longest > 0.2) return;
  CHECK(running.log(0).empty());
}

TEST_CASE("connections that are too many are told so") {
  HttpOptions options;
  options.max_connections = 2;
  RunningServer running(options);
  auto first = std::make_unique<HttpClient>(running.port());
  HttpClient second(running.port());
  CHECK(first->ask(kEcho).status == 200);
  CHECK(second.ask(kEcho).status == 200);
  std::vector<std::unique_ptr<HttpClient>> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(std::make_unique<HttpClient>(running.port()));
    others.back()->send(kEcho);
  }
  for (const auto& other : others) {
    CHECK(other->read_answer().status == 503);
    CHECK(other->read_all().empty());
  }
  // One that says nothing is told, too, and those with a place are served on.
  HttpClient silent(running.port());
  CHECK(second.ask(kEcho).status == 200);
  CHECK(silent.read_answer().status == 503);
  silent.close();
  first.reset();
  running.wait_for_connections(1);
  HttpClient next(running.port());
  CHECK(next.ask(kEcho).status == 200);
}

TEST_CASE("a process without free files accepts again when it has some") {
  RunningServer running;
  HttpClient open(running.port()), waiting(0);
  CHECK(open.ask(kEcho).status == 200);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int lowest = fcntl(0, F_DUPFD_CLOEXEC, 0);
  REQUIRE(lowest >= 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(lowest) + 1;
  setrlimit(RLIMIT_NOFILE, &few);
  waiting.connect(running.port());
  waiting.send(kEcho);
  const std::clock_t busy = std::clock();
  for (int i = 0; i < 10; ++i) {
    CHECK(open.ask(kEcho).status == 200);
    sleep(0.02);
  }
  CHECK(static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC < 0.15);
  CHECK(running.server().connections() == 1);
  setrlimit(RLIMIT_NOFILE, &before);
  close(lowest);
  CHECK(waiting.read_answer().status == 200);
}
