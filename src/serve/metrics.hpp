// Counts and times of a server, as text for Prometheus. The names are those of vLLM, so that existing
// dashboards show them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "src/engine/scheduler.hpp"

namespace carbon {

/// Seconds, counted in classes.
class Histogram {
 public:
  void add(double seconds);
  /// Lines for `name` with `labels`, e.g. `model_name="x"`.
  std::string text(const std::string& name, const std::string& labels) const;

 private:
  static constexpr std::array kBounds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05,  0.1,   0.2,   0.5,   1.0,
                                         2.0,   5.0,   10.0,  20.0, 50.0, 100.0, 200.0, 500.0, 1000.0};
  std::array<uint64_t, kBounds.size() + 1> counts_{};
  double sum_ = 0;
};

/// All functions may be called from any thread.
class Metrics {
 public:
  /// How a request has ended: all that was asked for, at a stop string, or not at all.
  enum class End { length, stop, abort };

  void tokens(uint64_t prompt, uint64_t generated);
  void queued(double seconds);          // from the arrival of a request until the model begins with it
  void first_token(double seconds);     // from its arrival to its first 6-mer
  void next_token(double seconds);      // between two 6-mers of a sample
  void ended(End end, double seconds);  // from its arrival to the end of its answer
  void refused();                       // because of the limit on requests under way, or during the end
  void answered(std::string_view path, int status);

  /// `model` is the name under which it is served.
  std::string text(const std::string& model, const SchedulerState& state, size_t connections,
                   size_t under_way) const;

 private:
  mutable std::mutex mutex_;
  uint64_t prompt_tokens_ = 0, generated_tokens_ = 0, refused_ = 0;
  std::array<uint64_t, 3> ends_{};
  Histogram queued_, first_token_, next_token_, whole_;
  std::map<std::pair<std::string, int>, uint64_t> answers_;
};

}  // namespace carbon
