// The limits of the HTTP server: times, slow readers, numbers of connections and of files.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

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
  options.idle_seconds = 0.3;
  options.read_seconds = 0.15;
  RunningServer running(options);
  const auto start = std::chrono::steady_clock::now();
  HttpClient silent(running.port()), between(running.port()), header(running.port()), body(running.port());
  CHECK(between.ask(kEcho).status == 200);
  header.send("GET / HTT");
  body.send("POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 10\r\n\r\nACGT");
  CHECK(header.read_answer().status == 408);
  CHECK(body.read_answer().status == 408);
  CHECK(seconds_since(start) >= 0.15);
  CHECK(silent.read_all().empty());
  CHECK(between.read_all().empty());
  CHECK(seconds_since(start) >= 0.3);
  const std::vector<HttpAccess> log = running.log(3);
  CHECK(log.size() == 3);
  CHECK(log[2].received == 4);
}

TEST_CASE("a slow reader is given time, blocks nobody, and is given up") {
  HttpOptions options;
  options.write_seconds = 0.8;
  RunningServer running(options);
  // The large answer does not fit into the buffers of the sockets.
  HttpClient slow(running.port(), 8192), stuck(running.port(), 8192), stream(running.port(), 8192);
  slow.send(kLarge);
  stuck.send(kLarge);
  stream.send("GET /hold HTTP/1.1\r\nHost: here\r\n\r\n");
  const HttpExchangePtr held = running.hold();
  held->start({200, "text/plain", "", {}});
  for (int i = 0; i < 100; ++i) held->send(std::string(100000, 'x'));
  HttpClient other(running.port());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) CHECK(other.ask(kEcho).status == 200);
  CHECK(seconds_since(start) < 0.7);
  CHECK(running.log(100).size() == 100);
  // Far too little for the socket to ask for more.
  while (seconds_since(start) < 1.8) {
    slow.read_some(1000);
    sleep(0.01);
  }
  CHECK(running.gone(1) == 1);
  const std::vector<HttpAccess> log = running.log(102);
  CHECK(log.size() == 102);
  for (size_t i : {100, 101}) {
    CHECK_FALSE(log[i].complete);
    CHECK(log[i].sent > 0);
    CHECK(log[i].sent < RunningServer::kLarge);
  }
  CHECK(running.server().connections() == 2);
  CHECK(slow.read_answer().body.size() == RunningServer::kLarge);
  CHECK(running.log(103).back().complete);
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
  for (int i = 0; i < 200; ++i) others.push_back(std::make_unique<HttpClient>(running.port()));
  for (const auto& other : others) other->send(kEcho);
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
