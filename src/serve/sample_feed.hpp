// What a sample has drawn, on its way from the scheduler's thread to a worker's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "src/engine/request.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/work.hpp"

namespace carbon {

class SampleFeed {
 public:
  /// 6-mers in the order in which they were drawn, and for each the row of its ranks if the sample has them.
  struct News {
    std::vector<uint16_t> kmers;
    std::vector<double> ranks;  // [kmers, kRankWidth], or empty
    double logp = 0;            // Request::logp with the last of them
  };

  /// Attaches a feed to a request that is not running yet. If `work` is not null, it is woken for each 6-mer.
  /// Times go to `metrics`, counted from `arrived`. The work must outlive the request.
  static std::shared_ptr<SampleFeed> attach(Request& sample, Work* work, Metrics& metrics,
                                            std::chrono::steady_clock::time_point arrived);

  /// What has come since the last call.
  News take();

 private:
  void drawn(const Request& sample, size_t added, Metrics& metrics);

  std::mutex mutex_;
  News news_;
  std::chrono::steady_clock::time_point arrived_;
  std::optional<std::chrono::steady_clock::time_point> last_;  // when a 6-mer was drawn
};

}  // namespace carbon
