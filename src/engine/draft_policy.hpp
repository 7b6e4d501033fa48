// How many 6-mers to draft per round: a fixed number, or the number that is fastest according to the
// acceptance and the times measured so far.
//
// A round drafts k 6-mers per sample in k steps of the draft model, and the target checks them in one chunk
// of k + 1 tokens. If each drafted 6-mer is accepted with probability a, independently of the others, a round
// yields E(k) = (1 - a^(k+1)) / (1 - a) 6-mers (Leviathan et al. 2023, eq. 1), so that the speed is E(k) /
// (draft time + target time). The choice changes the time that a run takes and no byte of its output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace carbon {

/// What happened in one round.
struct DraftRound {
  size_t k = 0;         // 6-mers drafted per sample, at most
  size_t rows = 0;      // samples that are being generated
  uint64_t tested = 0;  // drafted 6-mers up to and including the first rejected one, over all samples
  uint64_t accepted = 0;
  double draft_seconds = 0, target_seconds = 0;
};

class DraftPolicy {
 public:
  /// `fixed`: 6-mers per round; without it the policy chooses the number.
  explicit DraftPolicy(std::optional<size_t> fixed) : fixed_(fixed) {}

  /// 6-mers to draft per sample in the next round; 0 in a round that measures the target alone, and if off().
  size_t next() const;
  void record(const DraftRound& round);
  /// True if drafting was found to be slower than not drafting. It then stays true.
  bool off() const { return off_; }
  /// Share of tested 6-mers that were accepted.
  double acceptance() const { return tested_ > 0 ? accepted_ / tested_ : 0; }

  /// E(k): 6-mers a round yields on average.
  static double expected(double acceptance, size_t k);

 private:
  // The values of k that are measured. Times of the other values are interpolated linearly.
  static constexpr std::array<size_t, 5> kMeasured = {0, 1, 3, 7, 15};
  struct Cost {
    int samples = 0;
    double seconds = 0;  // of one round of this k
  };

  void start_measuring();
  void choose();
  double seconds(size_t k) const;

  std::optional<size_t> fixed_;
  bool off_ = false;
  bool measuring_ = true;
  size_t turn_ = 0;  // measuring rounds done
  size_t chosen_ = 0, steady_rounds_ = 0;
  size_t rows_ = 0;  // number of samples for which the costs hold
  std::array<Cost, kMeasured.size()> costs_;
  double tested_ = 0, accepted_ = 0;
};

}  // namespace carbon
