// How far two scores of the same alleles agree: correlations, differences, the overlap of the lowest shares,
// and how well each separates labelled alleles.
//
// Knows neither tags nor records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "src/statistics/ranking.hpp"
#include "src/statistics/split_mix.hpp"

namespace carbon {

/// The two scores of one allele, both finite, and what its label says.
struct ScorePair {
  enum Label : uint8_t { kClassed, kMissing, kOther };

  double a = 0, b = 0;
  uint32_t stratum = 0;
  Label label = kMissing;
  bool positive = false;
};

struct Agreement {
  double pearson = kNaN, spearman = kNaN;
  double mean_difference = kNaN, largest_difference = kNaN;  // without signs
  double overlap_1 = kNaN, overlap_5 = kNaN;
};

// A pair P of the functions below has members `a` and `b`.

/// All pairs have one value of the member.
template <class P>
bool is_constant(const std::vector<P>& pairs, double P::*key) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const P& p) { return p.*key == pairs.front().*key; });
}

/// The mean, corrected once by the mean of the distances from it, in which rounding hardly counts.
template <class P>
double mean(const std::vector<P>& pairs, double P::*key) {
  double result = 0;
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    for (const P& pair : pairs) sum += pair.*key - result;
    result += sum / static_cast<double>(pairs.size());
  }
  return result;
}

/// Of the `percent` % of the alleles that come first in an order, rounded up to a whole number, the share
/// that both orders have in common.
inline double overlap(const std::vector<uint32_t>& by_a, const std::vector<uint32_t>& by_b, size_t percent) {
  const size_t count = (by_a.size() * percent + 99) / 100;
  std::vector<bool> first(by_a.size());
  for (size_t i = 0; i < count; ++i) first[by_a[i]] = true;
  size_t common = 0;
  for (size_t i = 0; i < count; ++i) common += first[by_b[i]];
  return static_cast<double>(common) / static_cast<double>(count);
}

/// Which alleles the overlaps of two scores are of, in the names of measures.
inline const char* overlap_words(bool high_a, bool high_b) {
  if (high_a != high_b) return high_a ? "highest and lowest" : "lowest and highest";
  return high_a ? "highest" : "lowest";
}

/// The overlaps are those of the lowest scores, or of the highest where `high` says so.
template <class P>
Agreement agreement(const std::vector<P>& pairs, bool high_a = false, bool high_b = false) {
  Agreement out;
  if (pairs.empty()) return out;
  double sum = 0, largest = 0;
  for (const P& pair : pairs) {
    sum += std::abs(pair.a - pair.b);
    largest = std::max(largest, std::abs(pair.a - pair.b));
  }
  out.mean_difference = sum / static_cast<double>(pairs.size());
  out.largest_difference = largest;
  const std::vector<uint32_t> by_a = order_by(pairs, &P::a, std::less<>());
  const std::vector<uint32_t> by_b = order_by(pairs, &P::b, std::less<>());
  const std::vector<uint32_t> first_a = high_a ? order_by(pairs, &P::a, std::greater<>()) : by_a;
  const std::vector<uint32_t> first_b = high_b ? order_by(pairs, &P::b, std::greater<>()) : by_b;
  out.overlap_1 = overlap(first_a, first_b, 1);
  out.overlap_5 = overlap(first_a, first_b, 5);
  // A mean is rounded, so that equal values may seem to differ from it.
  if (is_constant(pairs, &P::a) || is_constant(pairs, &P::b)) return out;
  const Weights once(pairs.size(), 1);
  const double mean_a = mean(pairs, &P::a), mean_b = mean(pairs, &P::b);
  const double pearson = correlation(
      once, [&](size_t i) { return pairs[i].a - mean_a; }, [&](size_t i) { return pairs[i].b - mean_b; });
  const double spearman = rank_correlation(pairs, by_a, by_b, once, &P::a, &P::b);
  out.pearson = std::clamp(pearson, -1.0, 1.0);
  out.spearman = std::clamp(spearman, -1.0, 1.0);
  return out;
}

struct BootstrapOptions {
  uint64_t replicates = 1000, seed = 0;
  double confidence = 0.95;
};

/// One metric of both scores, and what B has more than A, with its interval.
struct Comparison {
  double a = kNaN, b = kNaN, difference = kNaN, low = kNaN, high = kNaN;
};

struct Separation {
  static constexpr size_t kCount = 3;
  static constexpr const char* kNames[kCount] = {"auroc", "auprc", "average_precision"};
  Comparison metrics[kCount];
};

/// Of pairs that have a class. `low_a` and `low_b` judge minus the scores.
///
/// A sample of the bootstrap draws alleles, each with both of its scores; samples of one class do not count.
inline Separation separation(const std::vector<ScorePair>& pairs, bool low_a, bool low_b,
                             const BootstrapOptions& options) {
  const auto by_rank = [&](double ScorePair::*key, bool low) {
    return low ? order_by(pairs, key, std::less<>()) : order_by(pairs, key, std::greater<>());
  };
  const std::vector<uint32_t> by_a = by_rank(&ScorePair::a, low_a), by_b = by_rank(&ScorePair::b, low_b);
  Separation out;
  Weights weights(pairs.size(), 1);
  const ClassMetrics of_a = class_metrics(pairs, by_a, weights, &ScorePair::a);
  const ClassMetrics of_b = class_metrics(pairs, by_b, weights, &ScorePair::b);
  if (!of_a.defined()) return out;
  std::vector<double> found[Separation::kCount];
  SplitMix64 random(options.seed);
  for (uint64_t i = 0; i < options.replicates; ++i) {
    resample(weights, random);
    const ClassMetrics sample_a = class_metrics(pairs, by_a, weights, &ScorePair::a);
    if (!sample_a.defined()) continue;
    const ClassMetrics sample_b = class_metrics(pairs, by_b, weights, &ScorePair::b);
    for (size_t m = 0; m < Separation::kCount; ++m)
      found[m].push_back(sample_b.values[m] - sample_a.values[m]);
  }
  for (size_t m = 0; m < Separation::kCount; ++m) {
    const auto [low, high] = percentile_interval(found[m], options.confidence);
    out.metrics[m] = {of_a.values[m], of_b.values[m], of_b.values[m] - of_a.values[m], low, high};
  }
  return out;
}

}  // namespace carbon
