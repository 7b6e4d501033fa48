// How many rows of prompts and windows join a pass, for those who wait for the next 6-mer of a stream.
//
// A command wants the most tokens per second, and its passes are as full as they may be. A server also wants
// that streams go on evenly: one prompt may take as much time of a pass as the streams together. If more
// prompts than streams want to go on, each of them gets as much time as a stream. No pass is so long that a
// new request waits for it. The times are measured; the choice changes no result.
#pragma once

#include <cstddef>

namespace carbon {

class SlicePolicy {
 public:
  /// Rows of prompts and windows for a pass with `samples` samples (may be 0) that has room for `limit`
  /// rows, at least 1; `waiting` prompts and windows want them. 0 for a pass of samples alone, whose time has
  /// to be measured first.
  size_t rows(size_t samples, size_t waiting, size_t limit) const;
  /// Called after a pass with its rows and its time.
  void record(size_t samples, size_t window_rows, double seconds);

 private:
  bool knows(size_t samples) const;

  size_t samples_ = 0;           // of the last pass of samples alone
  double sample_seconds_ = 0;    // its time
  double row_seconds_ = 0;       // of a row of a prompt or window beside samples; 0: not measured
  double lone_row_seconds_ = 0;  // of one in a pass without samples
};

}  // namespace carbon
