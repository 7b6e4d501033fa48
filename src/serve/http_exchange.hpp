// Between the threads of the service and the thread of the server: what an exchange was given to say, and
// whether anybody still listens.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "src/serve/http.hpp"

namespace carbon {

/// Runs functions in the server's thread, for as long as there is a server.
class HttpPoster {
 public:
  using Work = std::function<void()>;
  /// `post` keeps a function for the server's thread, and never calls it at once.
  explicit HttpPoster(std::function<void(Work)> post) : post_(std::move(post)) {}

  void post(Work work) {
    const std::lock_guard lock(mutex_);
    if (post_) post_(std::move(work));
  }
  /// From now on nothing is kept.
  void close() {
    const std::lock_guard lock(mutex_);
    post_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::function<void(Work)> post_;
};

/// What is said in one exchange, from any thread, until its connection takes it. Each function does nothing
/// where the order of HttpExchange does not allow it, and after close().
class HttpOutbox {
 public:
  /// `wake` is called when there is something to take, once until it has been taken.
  explicit HttpOutbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The side of the service.
  void answer(HttpAnswer answer);
  void start(HttpAnswer head);
  void send(std::string piece);
  void finish();
  void when_gone(std::function<void()> gone);
  /// Nothing more will be said, be the answer complete or not.
  void abandon();

  // The side of the connection.
  struct Parcel {
    std::optional<HttpAnswer> head;  // when the answer begins
    bool streamed = false;           // start() began it
    std::string pieces;              // of the body, joined
    bool complete = false;           // nothing follows
    bool abandoned = false;          // nothing follows, although something should
  };
  Parcel take();
  /// The exchange has ended: its answer is complete, or the client is `gone`.
  void close(bool gone);

 private:
  enum class Phase { silent, streaming, complete, abandoned };
  enum class End { open, complete, gone };

  void say(std::unique_lock<std::mutex> lock);

  std::mutex mutex_;
  std::function<void()> wake_;
  std::function<void()> gone_;
  Phase phase_ = Phase::silent;
  End end_ = End::open;
  bool woken_ = false;
  std::optional<HttpAnswer> head_;
  bool streamed_ = false;
  std::string pieces_;
};

/// The exchange that a service is given. When it is dropped, it abandons `outbox`.
HttpExchangePtr make_exchange(HttpRequest request, std::shared_ptr<HttpOutbox> outbox);

}  // namespace carbon
