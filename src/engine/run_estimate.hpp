// What a run would take, for --estimate: it counts the tokens of the requests that are planned, and measures
// how fast the machine computes the first of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/long_run.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

/// How long a run takes, in words and in seconds.
struct RunTime {
  std::string text;
  double seconds = 0;
};

/// Into how many shares a run is to be divided and the command that runs one, in lines; "" without a limit.
std::string shares_text(const EstimateOptions& options, const RunTime& run);

class RunEstimate {
 public:
  /// Adds the requests of an item of the run. In the order of the run: parents before children.
  void add(const std::vector<RequestPtr>& requests);
  /// True if more requests would not be run to measure the speed.
  bool enough_to_measure() const { return kept_tokens_ >= kMeasured; }

  uint64_t windows() const { return windows_; }
  /// Tokens that the model has to read; less if some are the same and computed once.
  uint64_t tokens() const { return tokens_; }

  /// Runs some of the first requests for about two seconds, and returns how fast that was, and how long
  /// `tokens` tokens take at this speed. Throws Error as a run does.
  RunTime measure(Engine& engine, uint64_t tokens) const;

 private:
  struct Item {
    std::vector<RequestPtr> requests;
    size_t bytes() const { return 0; }
  };
  /// Runs kept items from `first` on, until they have `least` tokens; returns the number after the last.
  static size_t run(Engine& engine, const std::vector<Item>& items, size_t first, uint64_t least,
                    uint64_t& tokens, double& seconds);

  // Far more than a CPU reads in two seconds, and enough for a GPU.
  static constexpr uint64_t kMeasured = uint64_t{1} << 18;

  std::vector<Item> kept_;
  uint64_t kept_tokens_ = 0, windows_ = 0, tokens_ = 0;
};

}  // namespace carbon
