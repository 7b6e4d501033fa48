// A model that is open, with the engine that computes all calls on it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/base/log.hpp"
#include "src/engine/engine.hpp"
#include "src/engine/request_queue.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon::api {

class OpenModel {
 public:
  /// Opens the model of the settings (carbon_model_open() in carbon.h). Throws Problem.
  OpenModel(const Fields& settings, Log& log);
  OpenModel(const ModelOptions& options, Log& log);
  /// Waits for half a layer. Requests that are still under way must be cancelled.
  ~OpenModel();
  OpenModel(const OpenModel&) = delete;
  OpenModel& operator=(const OpenModel&) = delete;

  const ServedModel& served() const { return served_; }
  Log& log() const { return log_; }
  /// Bytes of requests of one call that may be under way, so that passes are full.
  size_t most_bytes() const { return most_bytes_; }

  /// Any thread. For the requests of one call (Request::owner), which has the device in turn with others.
  uint64_t new_owner() { return ++owners_; }
  /// Any thread. Parents come before their children. Throws what has stopped the engine.
  void run(const std::vector<RequestPtr>& requests) { queue_.push(requests); }
  /// Throws what has stopped the engine, if anything has.
  void check() const;
  /// What the engine holds and has computed, as it was after the last pass.
  SchedulerState state() const { return engine_.state(); }
  /// A JSON object (carbon_model_describe() in carbon.h).
  std::string describe(bool digest) const;

 private:
  Log& log_;
  LoadedModels models_;
  ServedModel served_;
  Engine engine_;
  const size_t most_bytes_;
  mutable std::mutex digest_mutex_;  // the model keeps its digest
  std::atomic<uint64_t> owners_{0};
  RequestQueue queue_;
  std::thread thread_;
};

}  // namespace carbon::api
