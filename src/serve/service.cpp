#include "src/serve/service.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "src/base/threads.hpp"
#include "src/base/words.hpp"
#include "src/serve/api_error.hpp"

namespace carbon {
namespace {

// Planning and answering take little beside the model, except for long sequences, which should not hold up
// the pieces of streams.
constexpr size_t kWorkers = 2;
// A stopped request is under way until the model has ended its pass.
constexpr std::chrono::milliseconds kLastPass{300};

}  // namespace

Workers::Workers(size_t threads) {
  try {
    for (size_t i = 0; i < threads; ++i) threads_.push_back(start_thread([this] { work(); }));
  } catch (...) {
    end();
    throw;
  }
}

Workers::~Workers() {
  end();
}

void Workers::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Workers::post(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

void Workers::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
      if (ending_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

Service::Service(Engine& engine, const RequestLimits& limits, Log& log)
    : engine_(engine), limits_(limits), log_(log), workers_(kWorkers) {}

void Service::run() {
  try {
    engine_.run(queue_);
  } catch (...) {
    const ApiError reason(500, "the server has failed and ends; its log says why");
    {
      const std::lock_guard lock(mutex_);
      failed_ = true;
    }
    for (const WorkPtr& work : works()) {
      {
        // No request will be finished any more.
        const std::lock_guard lock(work->mutex_);
        work->pending_ = 0;
      }
      work->stop(reason);
    }
    throw;
  }
}

void Service::take(const WorkPtr& work) {
  work->service_ = this;
  std::optional<ApiError> refusal;
  {
    const std::lock_guard lock(mutex_);
    if (draining_ || failed_) {
      refusal.emplace(503, "the server is shutting down", "", "server_ending");
    } else if (works_.size() >= limits_.queue) {
      refusal.emplace(
          429, "the server is busy (limit " + count_of(works_.size(), "request") + "); try again later", "",
          "queue_full");
    } else {
      works_.insert(work);
      work->owner_ = ++owners_;
    }
  }
  if (refusal) {
    metrics_.refused();
    HttpAnswer answer = refusal->answer();
    if (refusal->status() == 429) answer.headers.emplace_back("Retry-After", "1");
    return work->exchange_->answer(std::move(answer));
  }
  work->schedule(Work::kBegin);
  work->exchange_->when_gone([weak = std::weak_ptr<Work>(work)] {
    if (const WorkPtr gone = weak.lock()) gone->stop(ApiError(499, "the client has gone"));
  });
}

void Service::finished(const Work& work) {
  const std::lock_guard lock(mutex_);
  std::erase_if(works_, [&](const WorkPtr& each) { return each.get() == &work; });
  changed_.notify_all();
}

std::vector<WorkPtr> Service::works() const {
  const std::lock_guard lock(mutex_);
  return {works_.begin(), works_.end()};
}

void Service::stop_late() {
  if (limits_.seconds <= 0) return;
  const auto limit = std::chrono::duration<double>(limits_.seconds);
  for (const WorkPtr& work : works())
    if (std::chrono::steady_clock::now() - work->arrived_ > limit)
      work->stop(ApiError(504, "the request took longer than the server's limit", "", "timeout"));
}

bool Service::drain(double seconds) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  const auto empty = [&] { return works_.empty() || failed_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), empty)) return true;
  lock.unlock();
  for (const WorkPtr& work : works())
    work->stop(ApiError(503, "the server ends before the answer is complete", "", "server_ending"));
  lock.lock();
  return changed_.wait_for(lock, kLastPass, empty);
}

void Service::wait_until_empty() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return works_.empty() || failed_; });
}

bool Service::draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

size_t Service::under_way() const {
  const std::lock_guard lock(mutex_);
  return works_.size();
}

}  // namespace carbon
