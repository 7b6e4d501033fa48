#include "src/serve/http_exchange.hpp"

#include <utility>

namespace carbon {

// Says that there is something to take.
void HttpOutbox::say(std::unique_lock<std::mutex> lock) {
  const bool wake = !woken_;
  woken_ = true;
  lock.unlock();
  if (wake) wake_();
}

void HttpOutbox::answer(HttpAnswer answer) {
  std::unique_lock lock(mutex_);
  if (end_ != End::open || phase_ != Phase::silent) return;
  phase_ = Phase::complete;
  head_ = std::move(answer);
  say(std::move(lock));
}

void HttpOutbox::start(HttpAnswer head) {
  std::unique_lock lock(mutex_);
  if (end_ != End::open || phase_ != Phase::silent) return;
  phase_ = Phase::streaming;
  streamed_ = true;
  pieces_ = std::exchange(head.body, {});
  head_ = std::move(head);
  say(std::move(lock));
}

void HttpOutbox::send(std::string piece) {
  std::unique_lock lock(mutex_);
  if (end_ != End::open || phase_ != Phase::streaming || piece.empty()) return;
  if (pieces_.empty())
    pieces_ = std::move(piece);
  else
    pieces_ += piece;
  say(std::move(lock));
}

void HttpOutbox::finish() {
  std::unique_lock lock(mutex_);
  if (end_ != End::open || phase_ != Phase::streaming) return;
  phase_ = Phase::complete;
  say(std::move(lock));
}

void HttpOutbox::abandon() {
  std::unique_lock lock(mutex_);
  if (end_ != End::open || phase_ == Phase::complete) return;
  phase_ = Phase::abandoned;
  say(std::move(lock));
}

void HttpOutbox::when_gone(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (end_ == End::open) std::swap(gone_, gone);
    if (end_ != End::gone) return;
  }
  if (gone) gone();
}

HttpOutbox::Parcel HttpOutbox::take() {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  return {std::exchange(head_, {}), streamed_, std::exchange(pieces_, {}), phase_ == Phase::complete,
          phase_ == Phase::abandoned};
}

void HttpOutbox::close(bool gone) {
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    if (end_ != End::open) return;
    end_ = gone ? End::gone : End::complete;
    std::swap(call, gone_);
    head_.reset();
    pieces_ = {};
  }
  // What it holds may hold the exchange, and this outbox with it: the caller has it, too.
  if (gone && call) call();
}

namespace {

class Exchange final : public HttpExchange {
 public:
  Exchange(HttpRequest request, std::shared_ptr<HttpOutbox> outbox)
      : request_(std::move(request)), outbox_(std::move(outbox)) {}
  ~Exchange() override { outbox_->abandon(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const HttpRequest& request() const override { return request_; }
  void answer(HttpAnswer answer) override { outbox_->answer(std::move(answer)); }
  void start(HttpAnswer head) override { outbox_->start(std::move(head)); }
  void send(std::string piece) override { outbox_->send(std::move(piece)); }
  void finish() override { outbox_->finish(); }
  void when_gone(std::function<void()> gone) override { outbox_->when_gone(std::move(gone)); }

 private:
  const HttpRequest request_;
  const std::shared_ptr<HttpOutbox> outbox_;
};

}  // namespace

HttpExchangePtr make_exchange(HttpRequest request, std::shared_ptr<HttpOutbox> outbox) {
  return std::make_shared<Exchange>(std::move(request), std::move(outbox));
}

}  // namespace carbon
