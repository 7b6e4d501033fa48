// Between HTTP and the engine: the requests of clients become requests to the model, which run together, and
// the results become answers. Workers plan and answer, so that neither the network nor the engine waits for
// that.
//
// It knows no endpoint; those are listed in api.cpp.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "src/base/log.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/request_queue.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/run.hpp"
#include "src/serve/work.hpp"

namespace carbon {

/// A few threads that do what they are given, in the order in which it was given.
class Workers {
 public:
  /// Throws Error if the system gives no further thread.
  explicit Workers(size_t threads);
  /// Waits for the job that each thread is doing, and drops the others.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Any thread may call it. The job must not throw.
  void post(std::function<void()> job);

 private:
  void work();
  void end();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

class Service {
 public:
  /// `engine` must have the options of a server (SchedulerOptions::interactive), and outlive the service.
  Service(Engine& engine, const RequestLimits& limits, Log& log = silent_log());
  /// Runs the engine in the calling thread until close(), or until the engine fails; then every work is told,
  /// and the error is thrown.
  void run();

  // Any thread may call these.
  /// Takes on a work. One too many is answered with status 429, and one during drain() with 503.
  void take(const WorkPtr& work);
  /// Stops works that are older than RequestLimits::seconds. To be called every now and then.
  void stop_late();
  /// Takes no more works, and waits for those under way; after `seconds` it stops them, which answers them.
  /// Returns false if the model then is still in a pass that has some of them.
  bool drain(double seconds);
  /// Waits for that pass.
  void wait_until_empty();
  /// Ends run(). To be called when no work is under way any more.
  void close() { queue_.close(); }
  bool draining() const;
  /// Works under way.
  size_t under_way() const;

  Engine& engine() { return engine_; }
  Metrics& metrics() { return metrics_; }
  const RequestLimits& limits() const { return limits_; }
  Log& log() { return log_; }

 private:
  friend class Work;
  void finished(const Work& work);
  std::vector<WorkPtr> works() const;

  Engine& engine_;
  const RequestLimits limits_;
  Log& log_;
  RequestQueue queue_;
  Metrics metrics_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<WorkPtr> works_;
  uint64_t owners_ = 0;
  bool draining_ = false, failed_ = false;
  Workers workers_;  // the last member: its threads end before what they use
};

}  // namespace carbon
