// The engine: a scheduler for each device that a model is loaded on, all of them on one queue of requests.
// Every command that runs the model is its caller.
#pragma once

#include <deque>
#include <optional>

#include "src/engine/drafter.hpp"
#include "src/engine/scheduler.hpp"

namespace carbon {

struct DraftOptions {
  std::optional<size_t> draft_tokens;  // 6-mers per round; without it chosen from what is measured
};

class Engine {
 public:
  /// `models`: one per device. `drafts`: a second model on as many devices, which proposes what the others
  /// then accept or not, or none; it changes no result. All must outlive the engine.
  explicit Engine(const std::vector<LoadedModel*>& models, const std::vector<LoadedModel*>& drafts = {},
                  const DraftOptions& options = {});

  /// Runs the requests of `queue` until it is closed and empty, or stopped, on this thread and one for each
  /// further device. Throws what a device or the queue has failed with.
  void run(RequestQueue& queue);

  /// Any of the models, for what is the same for all.
  LoadedModel& model() const { return *models_.front(); }
  const ModelConfig& config() const { return model().config(); }
  size_t devices() const { return models_.size(); }
  /// Rows that a pass of each device has at most, together.
  size_t pass_rows() const;
  SchedulerCounts counts() const;
  /// Of all drafts together; none without one.
  std::optional<DraftCounts> draft_counts() const;

 private:
  std::vector<LoadedModel*> models_;
  std::deque<Drafter> drafters_;
  std::deque<Scheduler> schedulers_;
};

/// Runs requests that are all there; parents come before their children. Throws what stops the engine.
void run_requests(Engine& engine, const std::vector<RequestPtr>& requests);

/// One line on what the passes had in them, at the level of information.
void report_passes(const Engine& engine);

}  // namespace carbon
