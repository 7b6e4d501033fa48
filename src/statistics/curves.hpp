// The curves of a score against two classes, and the intervals that bootstrap samples give them.
//
// Rows with equal scores form a group, because no threshold lies between them. Everything here needs of a
// group only how many rows of each class it has.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "src/statistics/ranking.hpp"
#include "src/statistics/split_mix.hpp"

namespace carbon {

/// The groups of rows, from the score that speaks most for the class to the one that speaks least.
class ScoreGroups {
 public:
  static constexpr size_t kMostJoined = 2000, kTop = 500;

  /// `negate`: low scores speak for the class. No score is NaN.
  ScoreGroups(const std::vector<float>& scores, const std::vector<bool>& positive, bool negate)
      : group_of_(scores.size()), positive_(positive) {
    std::vector<uint32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return negate ? scores[a] < scores[b] : scores[a] > scores[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || scores[order[i]] != thresholds_.back()) {
        thresholds_.push_back(scores[order[i]]);
        counts_.insert(counts_.end(), 2, 0);
      }
      group_of_[order[i]] = static_cast<uint32_t>(thresholds_.size() - 1);
      ++counts_[counts_.size() - (positive[order[i]] ? 2 : 1)];
    }
    add_totals();
  }

  size_t size() const { return thresholds_.size(); }
  size_t rows() const { return group_of_.size(); }
  uint64_t positives() const { return positives_; }
  uint64_t negatives() const { return negatives_; }
  /// Rows with the score of a group or a better one lie on the positive side of this threshold.
  float threshold(size_t group) const { return thresholds_[group]; }
  /// For each group how many rows are positive, and then how many are negative.
  std::span<const uint32_t> counts() const { return counts_; }
  /// Where each row counts: an index of counts().
  uint32_t place(size_t row) const { return 2 * group_of_[row] + !positive_[row]; }

  /// At most kMostJoined groups: the first kTop stay as they are, because a curve of precision begins with
  /// few rows; of the others, a group stays with which another kParts-th of the rest of a class is reached,
  /// and those between two such groups become one. So no class lies at an end of joined groups more than the
  /// other.
  ScoreGroups joined() const {
    ScoreGroups out = *this;
    out.thresholds_.clear();
    out.counts_.clear();
    uint64_t rest[2] = {positives_, negatives_}, seen[2] = {0, 0};
    for (size_t g = 0; g < std::min(kTop, size()); ++g)
      rest[0] -= counts_[2 * g], rest[1] -= counts_[2 * g + 1];
    std::vector<uint32_t> becomes(size());
    bool last_stays = true;
    for (size_t g = 0; g < size(); ++g) {
      bool stays = g < kTop;
      for (size_t c = 0; c < 2 && g >= kTop; ++c) {
        const uint64_t before = seen[c];
        seen[c] += counts_[2 * g + c];
        stays |= rest[c] > 0 && seen[c] * kParts / rest[c] != before * kParts / rest[c];
      }
      if (stays || last_stays) {
        out.thresholds_.push_back(thresholds_[g]);
        out.counts_.insert(out.counts_.end(), 2, 0);
      }
      last_stays = stays;
      becomes[g] = static_cast<uint32_t>(out.size() - 1);
      out.thresholds_.back() = thresholds_[g];
      for (size_t c = 0; c < 2; ++c) out.counts_[2 * becomes[g] + c] += counts_[2 * g + c];
    }
    for (uint32_t& group : out.group_of_) group = becomes[group];
    return out;
  }

 private:
  // Each part begins with a group that stays, and one that is joined may follow it.
  static constexpr uint64_t kParts = (kMostJoined - kTop - 1) / 4;

  void add_totals() {
    for (size_t g = 0; g < size(); ++g) positives_ += counts_[2 * g], negatives_ += counts_[2 * g + 1];
  }

  std::vector<float> thresholds_;
  std::vector<uint32_t> counts_, group_of_;
  std::vector<bool> positive_;
  uint64_t positives_ = 0, negatives_ = 0;
};

/// AUROC, AUPRC and average precision; NaN with one class alone.
inline ClassMetrics class_metrics(std::span<const uint32_t> counts) {
  uint64_t positive = 0, negative = 0;
  for (size_t i = 0; i < counts.size(); i += 2) positive += counts[i], negative += counts[i + 1];
  ClassAreas areas(positive, negative);
  for (size_t i = 0; i < counts.size(); i += 2) areas.add(counts[i], counts[i + 1]);
  return areas.metrics();
}

/// The rates at which curves are compared: k / (kRates - 1).
inline constexpr size_t kRates = 101;
using Rates = std::array<double, kRates>;
constexpr double rate_at(size_t k) {
  return static_cast<double>(k) / static_cast<double>(kRates - 1);
}

/// The true positive rate at each false positive rate, on the straight lines between thresholds; where the
/// curve rises straight up, its upper end. Both classes have rows.
inline Rates true_positive_rates(std::span<const uint32_t> counts, const ClassMetrics& totals) {
  Rates out;
  const auto positives = static_cast<double>(totals.positive),
             negatives = static_cast<double>(totals.negative);
  double tpr = 0, fpr = 0;
  uint64_t tp = 0, fp = 0;
  size_t k = 0;
  for (size_t i = 0; i < counts.size() && k < kRates; i += 2) {
    tp += counts[i];
    fp += counts[i + 1];
    const double next_tpr = static_cast<double>(tp) / positives,
                 next_fpr = static_cast<double>(fp) / negatives;
    for (; k < kRates && next_fpr > rate_at(k); ++k)
      out[k] = tpr + (next_tpr - tpr) * (rate_at(k) - fpr) / (next_fpr - fpr);
    tpr = next_tpr;
    fpr = next_fpr;
  }
  for (; k < kRates; ++k) out[k] = tpr;
  return out;
}

/// The precision at each recall, on the straight lines between thresholds, from precision 1 at recall 0;
/// where the curve falls straight down, its upper end. Both classes have rows.
inline Rates precisions(std::span<const uint32_t> counts, const ClassMetrics& totals) {
  Rates out;
  out[0] = 1;
  double recall = 0, precision = 1;
  uint64_t tp = 0, fp = 0;
  size_t k = 1;
  for (size_t i = 0; i < counts.size() && k < kRates; i += 2) {
    tp += counts[i];
    fp += counts[i + 1];
    if (tp + fp == 0) continue;
    const double next_recall = static_cast<double>(tp) / static_cast<double>(totals.positive);
    const double next_precision = static_cast<double>(tp) / static_cast<double>(tp + fp);
    for (; k < kRates && next_recall >= rate_at(k); ++k)
      out[k] = precision + (next_precision - precision) * (rate_at(k) - recall) / (next_recall - recall);
    recall = next_recall;
    precision = next_precision;
  }
  return out;
}

/// The ends of intervals, of samples of both classes: one each for the areas and at each rate.
struct CurveIntervals {
  uint64_t samples = 0;                                              // those that count
  size_t groups = 0;                                                 // of scores that the samples tell apart
  bool joined = false;                                               // and these are fewer than there are
  double low[3] = {kNaN, kNaN, kNaN}, high[3] = {kNaN, kNaN, kNaN};  // AUROC, AUPRC, average precision
  Rates roc_low{}, roc_high{}, precision_low{}, precision_high{};
};

/// Percentiles over samples of as many rows as there are, drawn with replacement: the samples that +auroc
/// draws. Above kExactRows rows, a sample judges joined groups, which takes a fixed time beside the drawing.
/// Needs 808 bytes for each sample.
class CurveBootstrap {
 public:
  static constexpr size_t kExactRows = 20000;

  static CurveIntervals intervals(const ScoreGroups& all, uint64_t samples, uint64_t seed,
                                  double confidence) {
    CurveBootstrap bootstrap;
    CurveIntervals out;
    out.joined = all.rows() > kExactRows && all.size() > ScoreGroups::kMostJoined;
    const ScoreGroups groups = out.joined ? all.joined() : all;
    out.groups = groups.size();
    bootstrap.draw(groups, samples, seed);
    out.samples = bootstrap.areas_[0].size();
    const auto ends = [&](auto& found, double& low, double& high) {
      std::tie(low, high) = percentile_interval(found, confidence);
    };
    for (size_t m = 0; m < 3; ++m) ends(bootstrap.areas_[m], out.low[m], out.high[m]);
    for (size_t k = 0; k < kRates; ++k) {
      ends(bootstrap.roc_[k], out.roc_low[k], out.roc_high[k]);
      ends(bootstrap.precision_[k], out.precision_low[k], out.precision_high[k]);
    }
    return out;
  }

 private:
  // A sample of one class does not count.
  void draw(const ScoreGroups& groups, uint64_t samples, uint64_t seed) {
    // Two bytes for each row: the table of a million rows stays in the cache.
    std::vector<uint16_t> places(groups.rows());
    for (size_t row = 0; row < places.size(); ++row) places[row] = static_cast<uint16_t>(groups.place(row));
    std::vector<uint32_t> counts(2 * groups.size());
    SplitMix64 random(seed);
    for (uint64_t s = 0; s < samples; ++s) {
      std::fill(counts.begin(), counts.end(), 0u);
      for (size_t i = 0; i < places.size(); ++i) ++counts[places[random.below(places.size())]];
      const ClassMetrics metrics = class_metrics(counts);
      if (!metrics.defined()) continue;
      for (size_t m = 0; m < 3; ++m) areas_[m].push_back(metrics.values[m]);
      const Rates roc = true_positive_rates(counts, metrics), precision = precisions(counts, metrics);
      for (size_t k = 0; k < kRates; ++k) {
        roc_[k].push_back(static_cast<float>(roc[k]));
        precision_[k].push_back(static_cast<float>(precision[k]));
      }
    }
  }

  std::array<std::vector<double>, 3> areas_;
  std::array<std::vector<float>, kRates> roc_, precision_;
};

}  // namespace carbon
