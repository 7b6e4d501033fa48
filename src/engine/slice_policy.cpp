#include "src/engine/slice_policy.hpp"

#include <algorithm>

namespace carbon {
namespace {

// Rows whose time is not known yet.
constexpr size_t kFirstRows = 16, kFirstLoneRows = 256;
// Fewer rows would cost almost the time of these.
constexpr size_t kLeastRows = 8, kLeastLoneRows = 128;
// Seconds that prompts and windows may take in a pass, after which new requests are looked at. If one pass of
// the samples takes longer, they may take as long as that.
constexpr double kLonePass = 0.25;
// The share of a new measurement in an average.
constexpr double kNew = 0.3;

void average(double& mean, double value) {
  mean = mean == 0 ? value : (1 - kNew) * mean + kNew * value;
}

size_t rows_in(double seconds, double row_seconds, size_t least, size_t limit) {
  const double rows = seconds / row_seconds;
  return std::clamp(rows < static_cast<double>(limit) ? static_cast<size_t>(rows) : limit,
                    std::min(least, limit), limit);
}

}  // namespace

// The time of a pass changes slowly with the number of samples.
bool SlicePolicy::knows(size_t samples) const {
  return samples_ > 0 && 4 * samples <= 5 * samples_ && 5 * samples >= 4 * samples_;
}

size_t SlicePolicy::rows(size_t samples, size_t waiting, size_t limit) const {
  if (samples == 0)
    return lone_row_seconds_ == 0 ? std::min(kFirstLoneRows, limit)
                                  : rows_in(kLonePass, lone_row_seconds_, kLeastLoneRows, limit);
  if (!knows(samples)) return 0;
  const double fair = sample_seconds_ * static_cast<double>(waiting) / static_cast<double>(samples);
  const double seconds = std::max(sample_seconds_, std::min(fair, kLonePass));
  return row_seconds_ == 0 ? std::min(kFirstRows, limit) : rows_in(seconds, row_seconds_, kLeastRows, limit);
}

void SlicePolicy::record(size_t samples, size_t window_rows, double seconds) {
  if (samples == 0) {
    if (window_rows > 0) average(lone_row_seconds_, seconds / static_cast<double>(window_rows));
    return;
  }
  if (window_rows > 0) {
    // A pass that happened to be fast must not make a row free.
    const double rest = std::max(seconds - sample_seconds_, 0.1 * seconds);
    return average(row_seconds_, rest / static_cast<double>(window_rows));
  }
  if (knows(samples)) {
    average(sample_seconds_, seconds);
  } else {
    sample_seconds_ = seconds;
  }
  samples_ = samples;
}

}  // namespace carbon
