// src/engine/: what runs the model for every command: requests come in through a queue, and go out with
// their values, their states or their new 6-mers. scheduler decides what runs next, packing what is in a
// pass, admission what memory allows, and results what a pass has given.
//
// An engine has one scheduler for each device that a model is loaded on, and all of them take requests from
// one queue.
#pragma once

#include <deque>
#include <optional>

#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {

struct EngineOptions {
  std::optional<size_t> draft_tokens;  // 6-mers per round; without it DraftPolicy chooses
  SchedulerOptions scheduler;
};

class Engine {
 public:
  /// `models`: one per device. `drafts`: empty, or a second model on as many devices, which proposes 6-mers
  /// for speculative decoding and changes no result. All must outlive the engine.
  explicit Engine(const std::vector<LoadedModel*>& models, const std::vector<LoadedModel*>& drafts = {},
                  const EngineOptions& options = {});

  /// Runs the requests of `queue` until it is closed and empty, or stopped. The calling thread runs the first
  /// device, and each further device gets a thread. Throws the first error of a device or of the queue.
  void run(RequestQueue& queue);

  /// One of the models, for properties that all share.
  LoadedModel& model() const { return *models_.front(); }
  const ModelConfig& config() const { return model().config(); }
  size_t devices() const { return models_.size(); }
  /// Rows of one pass, at most; the sum over the devices.
  size_t pass_rows() const;
  SchedulerCounts counts() const;
  /// The sum over the devices, as it was after the last passes. Any thread may call it.
  SchedulerState state() const;
  /// The sum over all drafts; none without a draft.
  std::optional<DraftCounts> draft_counts() const;

 private:
  std::vector<LoadedModel*> models_;
  std::deque<Drafter> drafters_;
  std::deque<Scheduler> schedulers_;
};

/// Runs the requests and returns when all are finished. Parents come before their children. Throws the error
/// that stopped the engine.
void run_requests(Engine& engine, const std::vector<RequestPtr>& requests);

/// Logs, as information, how many passes there were, how full they were and how long they took.
void report_passes(const Engine& engine);

}  // namespace carbon
