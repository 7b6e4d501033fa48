#include "src/engine/draft_policy.hpp"

#include <algorithm>
#include <cmath>

namespace carbon {
namespace {

// Rounds of each k: one warm-up round, which may prepare buffers and products of a new shape and is not
// counted, and two measured rounds.
constexpr int kWarmUp = 1, kSamples = 3;
// Drafting is not switched off before this many drafted 6-mers are tested: the acceptance is too uncertain.
constexpr double kEnoughTested = 40;
// Times are measured again after this many rounds, because contexts grow and the machine's load changes.
constexpr size_t kSteadyRounds = 256;
// When this many 6-mers are tested, the counts are halved, so that newer ones weigh more.
constexpr double kMemory = 4096;

}  // namespace

double DraftPolicy::expected(double acceptance, size_t k) {
  double sum = 0, power = 1;
  for (size_t i = 0; i <= k; ++i, power *= acceptance) sum += power;
  return sum;
}

size_t DraftPolicy::next() const {
  if (off_) return 0;
  if (fixed_) return *fixed_;
  return measuring_ ? kMeasured[turn_ % kMeasured.size()] : chosen_;
}

void DraftPolicy::start_measuring() {
  measuring_ = true;
  turn_ = 0;
  costs_ = {};
}

void DraftPolicy::record(const DraftRound& round) {
  tested_ += static_cast<double>(round.tested);
  accepted_ += static_cast<double>(round.accepted);
  if (tested_ > kMemory) {
    tested_ /= 2;
    accepted_ /= 2;
  }
  if (fixed_ || off_) return;
  // The measured times hold for a similar number of rows only.
  if (round.rows * 4 < rows_ * 3 || round.rows * 3 > rows_ * 4) {
    rows_ = round.rows;
    start_measuring();
    return;
  }
  if (!measuring_) {
    if (++steady_rounds_ >= kSteadyRounds) start_measuring();
    return;
  }
  Cost& cost = costs_[turn_ % kMeasured.size()];
  // Takes the shortest time, because other programs on the machine can only make it longer.
  const double seconds = round.draft_seconds + round.target_seconds;
  if (cost.samples >= kWarmUp)
    cost.seconds = cost.samples == kWarmUp ? seconds : std::min(cost.seconds, seconds);
  ++cost.samples;
  if (++turn_ == kMeasured.size() * kSamples) choose();
}

double DraftPolicy::seconds(size_t k) const {
  size_t i = 1;
  while (kMeasured[i] < k) ++i;
  const double share =
      static_cast<double>(k - kMeasured[i - 1]) / static_cast<double>(kMeasured[i] - kMeasured[i - 1]);
  return costs_[i - 1].seconds + share * (costs_[i].seconds - costs_[i - 1].seconds);
}

void DraftPolicy::choose() {
  chosen_ = 0;
  for (size_t k = 1; k <= kMeasured.back(); ++k)
    if (expected(acceptance(), k) / seconds(k) > expected(acceptance(), chosen_) / seconds(chosen_))
      chosen_ = k;
  if (chosen_ == 0 && tested_ < kEnoughTested) return start_measuring();
  off_ = chosen_ == 0;
  measuring_ = false;
  steady_rounds_ = 0;
}

}  // namespace carbon
