// A server in a thread of its own, for tests, whose answers depend on the path alone:
//
//   /echo     method, path, query and body
//   /hold     nothing; hold() gives the exchange to the test
//   /drop     nothing; the exchange is thrown away
//   /throw    an exception
//   /large    kLarge bytes
//   /split    a header that would be two
//   /refused  403 before its body is read
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/serve/http.hpp"

class RunningServer {
 public:
  static constexpr size_t kLarge = size_t{16} << 20;

  explicit RunningServer(carbon::HttpOptions options = {}) {
    options.port = 0;
    server_ = std::make_unique<carbon::HttpServer>(
        options,
        carbon::HttpHandlers{[](const carbon::HttpRequest& request) { return refuse(request); },
                             [this](carbon::HttpExchangePtr exchange) { handle(std::move(exchange)); },
                             [](int status, const std::string& message) {
                               return carbon::HttpAnswer{status, "text/plain", message, {}};
                             },
                             [this](const carbon::HttpAccess& access) {
                               const std::lock_guard lock(mutex_);
                               log_.push_back(access);
                               changed_.notify_all();
                             }});
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RunningServer() { end(); }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  carbon::HttpServer& server() { return *server_; }
  uint16_t port() const { return server_->port(); }
  /// Closes the server and destroys it.
  void end() {
    if (!server_) return;
    server_->close();
    thread_.join();
    server_.reset();
  }

  /// The next exchange that asked for /hold.
  carbon::HttpExchangePtr hold() {
    carbon::HttpExchangePtr exchange;
    wait([&] { return !held_.empty(); },
         [&] {
           exchange = std::move(held_.front());
           held_.pop_front();
         });
    return exchange;
  }
  /// What was logged, when there are `n` entries.
  std::vector<carbon::HttpAccess> log(size_t n) {
    std::vector<carbon::HttpAccess> entries;
    wait([&] { return log_.size() >= n; }, [&] { entries = log_; });
    return entries;
  }
  /// Counts the clients of held exchanges that are gone, when there are `n`.
  size_t gone(size_t n) {
    size_t count = 0;
    wait([&] { return gone_ >= n; }, [&] { count = gone_; });
    return count;
  }
  void wait_for_connections(size_t n) {
    for (int i = 0; server_->connections() != n; ++i) {
      if (i == 20000)
        throw std::runtime_error("there are " + std::to_string(server_->connections()) + " connections");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  void wait(const std::function<bool()>& ready, const std::function<void()>& action) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), ready)) throw std::runtime_error("waited in vain");
    action();
  }

  static std::optional<carbon::HttpAnswer> refuse(const carbon::HttpRequest& request) {
    if (request.path != "/refused") return std::nullopt;
    return carbon::HttpAnswer{403, "text/plain", "no", {}};
  }

  void handle(carbon::HttpExchangePtr exchange) {
    const carbon::HttpRequest& request = exchange->request();
    if (request.path == "/throw") throw std::runtime_error("a fault of the service");
    if (request.path == "/drop") return;
    if (request.path == "/large") return exchange->answer({200, "text/plain", std::string(kLarge, 'x'), {}});
    if (request.path == "/nothing") return exchange->answer({204, "", "", {}});
    if (request.path == "/split")
      return exchange->answer(
          {200, "text/plain", "", {{"X-Good", "a b"}, {"X-Bad", "a\r\nX-New: b"}, {"X-B\r\nad", "c"}}});
    if (request.path == "/hold") {
      exchange->when_gone([this] {
        const std::lock_guard lock(mutex_);
        ++gone_;
        changed_.notify_all();
      });
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(exchange));
      changed_.notify_all();
      return;
    }
    exchange->answer({200,
                      "text/plain",
                      request.method + " " + request.path + "?" + request.query + " " + request.body,
                      {}});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<carbon::HttpExchangePtr> held_;
  std::vector<carbon::HttpAccess> log_;
  size_t gone_ = 0;
  std::unique_ptr<carbon::HttpServer> server_;
  std::thread thread_;
};
