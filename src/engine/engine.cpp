#include "src/engine/engine.hpp"

#include "src/base/numbers.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"

namespace carbon {

Engine::Engine(const std::vector<LoadedModel*>& models, const std::vector<LoadedModel*>& drafts,
               const EngineOptions& options)
    : models_(models) {
  for (LoadedModel* draft : drafts) drafters_.emplace_back(*draft, options.draft_tokens);
  for (size_t i = 0; i < models.size(); ++i)
    schedulers_.emplace_back(*models[i], drafts.empty() ? nullptr : &drafters_[i], options.scheduler);
}

void Engine::run(RequestQueue& queue) {
  run_threads(
      schedulers_.size(), [&](size_t i) { schedulers_[i].run(queue, static_cast<int>(i)); },
      [&](const std::exception_ptr& failure) { queue.fail(failure); });
  for (Scheduler& scheduler : schedulers_) scheduler.clear();
  if (const std::exception_ptr failure = queue.failure()) std::rethrow_exception(failure);
}

size_t Engine::pass_rows() const {
  size_t sum = 0;
  for (const Scheduler& scheduler : schedulers_) sum += scheduler.pass_limit();
  return sum;
}

SchedulerCounts Engine::counts() const {
  SchedulerCounts sum;
  for (const Scheduler& scheduler : schedulers_) sum += scheduler.counts();
  return sum;
}

SchedulerState Engine::state() const {
  SchedulerState sum;
  for (const Scheduler& scheduler : schedulers_) sum += scheduler.state();
  return sum;
}

std::optional<DraftCounts> Engine::draft_counts() const {
  if (drafters_.empty()) return std::nullopt;
  DraftCounts sum;
  for (const Drafter& drafter : drafters_) sum += drafter.counts();
  return sum;
}

void run_requests(Engine& engine, const std::vector<RequestPtr>& requests) {
  RequestQueue queue;
  queue.push(requests);
  queue.close();
  engine.run(queue);
}

void report_passes(const Engine& engine) {
  const SchedulerCounts counts = engine.counts();
  if (counts.rows == 0) return;
  const double full = 100 * static_cast<double>(counts.rows) / static_cast<double>(counts.capacity);
  engine.model().log().info(
      "engine", count_of(counts.rows, "token") + " in " +
                    count_of(counts.window_passes + counts.sample_passes, "pass", "es") + ", " +
                    fixed_text(full, 1) + " % full; " + count_of(counts.window_passes, "pass", "es") +
                    " of prompts and windows in " + fixed_text(counts.window_seconds, 3) + " s; " +
                    count_of(counts.sample_passes, "pass", "es") + " with samples in " +
                    fixed_text(counts.sample_seconds, 3) + " s; " + count_of(counts.drawn, "6-mer") +
                    " drawn; requests with the tokens of another: " + std::to_string(counts.shared));
}

}  // namespace carbon
