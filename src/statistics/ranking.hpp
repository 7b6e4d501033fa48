// src/statistics/: statistics of scores, in headers alone, because plugins include them, too: rows with
// scores and labels come in, and measures with their intervals go out.
//
// Here is how well a score ranks labelled rows: AUROC, AUPRC, average precision and Spearman, of all rows, of
// strata of them, or of a bootstrap sample.
//
// The definitions are scikit-learn's and scipy's: ties share a threshold of a curve and an average rank.
// Knows neither tags nor records. What is a template serves rows with other members, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace carbon {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct LabelledRow {
  double score = 0, value = 0;
  bool positive = false;
  uint32_t chromosome = 0, stratum = 0;
};

/// How often each row counts: all once, or as a bootstrap sample drew them.
using Weights = std::vector<uint32_t>;

/// Draws as many rows as there are, with replacement.
template <class Random>
void resample(Weights& weights, Random& random) {
  std::fill(weights.begin(), weights.end(), 0u);
  for (size_t i = 0; i < weights.size(); ++i) ++weights[random.below(weights.size())];
}

/// The rows by falling (or rising) values of a member; equal ones stay as they were.
template <class R, class Before>
std::vector<uint32_t> order_by(const std::vector<R>& rows, double R::*key, Before before) {
  std::vector<uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return before(rows[a].*key, rows[b].*key); });
  return order;
}

struct ClassMetrics {
  double values[3] = {kNaN, kNaN, kNaN};  // AUROC, AUPRC, average precision
  uint64_t positive = 0, negative = 0;
  bool defined() const { return positive > 0 && negative > 0; }
};

/// The areas of one class against the other, made of groups of equal scores that come by falling score.
class ClassAreas {
 public:
  /// How many there are of each class in all groups together.
  ClassAreas(uint64_t positive, uint64_t negative)
      : positives_(static_cast<double>(positive)), negatives_(static_cast<double>(negative)) {
    out_.positive = positive;
    out_.negative = negative;
  }
  void add(double group_tp, double group_fp) {
    if (group_tp + group_fp == 0) return;  // no row of a sample has this score
    pairs_ += group_fp * (tp_ + group_tp / 2);
    tp_ += group_tp;
    fp_ += group_fp;
    const double precision = tp_ / (tp_ + fp_);
    trapezoids_ += group_tp / positives_ * (precision + last_precision_) / 2;
    steps_ += group_tp / positives_ * precision;
    last_precision_ = precision;
  }
  /// NaN with one class alone.
  ClassMetrics metrics() const {
    ClassMetrics out = out_;
    if (!out.defined()) return out;
    out.values[0] = pairs_ / (positives_ * negatives_);
    out.values[1] = trapezoids_;
    out.values[2] = steps_;
    return out;
  }

 private:
  ClassMetrics out_;
  double positives_, negatives_;
  double tp_ = 0, fp_ = 0, last_precision_ = 1, pairs_ = 0, trapezoids_ = 0, steps_ = 0;
};

/// `order` lists rows by falling `key`. NaN with one class alone.
template <class R>
ClassMetrics class_metrics(const std::vector<R>& rows, const std::vector<uint32_t>& order,
                           const Weights& weights, double R::*key) {
  ClassMetrics out;
  for (const uint32_t i : order) (rows[i].positive ? out.positive : out.negative) += weights[i];
  if (!out.defined()) return out;
  ClassAreas areas(out.positive, out.negative);
  for (size_t begin = 0; begin < order.size();) {
    double group_tp = 0, group_fp = 0;
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].*key == rows[order[begin]].*key; ++end)
      (rows[order[end]].positive ? group_tp : group_fp) += weights[order[end]];
    begin = end;
    areas.add(group_tp, group_fp);
  }
  return areas.metrics();
}

/// Average ranks, from 1, of a member of each row; `order` is sorted by it.
template <class R>
std::vector<double> ranks(const std::vector<R>& rows, const std::vector<uint32_t>& order,
                          const Weights& weights, double R::*key) {
  std::vector<double> out(rows.size());
  double before = 0;
  for (size_t begin = 0; begin < order.size();) {
    double count = 0;
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].*key == rows[order[begin]].*key; ++end)
      count += weights[order[end]];
    for (size_t i = begin; i < end; ++i) out[order[i]] = before + (count + 1) / 2;
    before += count;
    begin = end;
  }
  return out;
}

/// The correlation of x(i) and y(i), the distances of row i from the means. NaN if one of them is constant.
template <class X, class Y>
double correlation(const Weights& weights, X x, Y y) {
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    xy += weights[i] * x(i) * y(i);
    xx += weights[i] * x(i) * x(i);
    yy += weights[i] * y(i) * y(i);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNaN;
}

/// The correlation of the average ranks of two members; `by_x` and `by_y` are sorted by them.
template <class R>
double rank_correlation(const std::vector<R>& rows, const std::vector<uint32_t>& by_x,
                        const std::vector<uint32_t>& by_y, const Weights& weights, double R::*x,
                        double R::*y) {
  const std::vector<double> x_ranks = ranks(rows, by_x, weights, x);
  const std::vector<double> y_ranks = ranks(rows, by_y, weights, y);
  double count = 0;
  for (const uint32_t weight : weights) count += weight;
  const double middle = (count + 1) / 2;
  return correlation(
      weights, [&](size_t i) { return x_ranks[i] - middle; }, [&](size_t i) { return y_ranks[i] - middle; });
}

/// Everything that one set of weights is asked for.
struct RankMetrics {
  static constexpr size_t kCount = 7;
  static constexpr const char* kNames[kCount] = {
      "auroc",          "auprc",          "average_precision",
      "auroc_by_chrom", "auprc_by_chrom", "average_precision_by_chrom",
      "spearman"};
  double values[kCount] = {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
};

class Evaluation {
 public:
  Evaluation(const std::vector<LabelledRow>& rows, size_t chromosomes, bool classes)
      : rows_(rows),
        classes_(classes),
        by_score_(order_by(rows, &LabelledRow::score, std::greater<>())),
        by_value_(order_by(rows, &LabelledRow::value, std::greater<>())),
        by_chromosome_(chromosomes) {
    for (const uint32_t i : by_score_) by_chromosome_[rows[i].chromosome].push_back(i);
  }

  RankMetrics metrics(const Weights& weights) const {
    RankMetrics out;
    if (classes_) {
      const ClassMetrics all = class_metrics(rows_, by_score_, weights, &LabelledRow::score);
      std::copy_n(all.values, 3, out.values);
      add_by_chromosome(weights, out);
    }
    out.values[6] =
        rank_correlation(rows_, by_score_, by_value_, weights, &LabelledRow::score, &LabelledRow::value);
    return out;
  }
  ClassMetrics chromosome(size_t number, const Weights& weights) const {
    return class_metrics(rows_, by_chromosome_[number], weights, &LabelledRow::score);
  }

 private:
  // The mean over chromosomes, each weighted by its rows; those with one class are left out.
  void add_by_chromosome(const Weights& weights, RankMetrics& out) const {
    double sums[3] = {0, 0, 0}, total = 0;
    for (const std::vector<uint32_t>& order : by_chromosome_) {
      const ClassMetrics one = class_metrics(rows_, order, weights, &LabelledRow::score);
      if (!one.defined()) continue;
      const auto count = static_cast<double>(one.positive + one.negative);
      for (size_t i = 0; i < 3; ++i) sums[i] += count * one.values[i];
      total += count;
    }
    for (size_t i = 0; total > 0 && i < 3; ++i) out.values[3 + i] = sums[i] / total;
  }

  const std::vector<LabelledRow>& rows_;
  bool classes_;
  std::vector<uint32_t> by_score_, by_value_;
  std::vector<std::vector<uint32_t>> by_chromosome_;
};

/// The quantile at `share` of sorted values, linear between neighbours.
template <class T>
double quantile(const std::vector<T>& sorted, double share) {
  if (sorted.empty()) return kNaN;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = sorted[below], high = sorted[above];
  return low + (at - static_cast<double>(below)) * (high - low);
}

/// The ends of the percentile interval of what bootstrap samples gave, which this sorts; NaN without samples.
template <class T>
std::pair<double, double> percentile_interval(std::vector<T>& found, double confidence) {
  std::sort(found.begin(), found.end());
  return {quantile(found, (1 - confidence) / 2), quantile(found, (1 + confidence) / 2)};
}

/// A line of a table of strata: counts, and three metrics with their interval.
struct StratumMetrics {
  uint64_t positive = 0, negative = 0;
  double values[3] = {kNaN, kNaN, kNaN};
  double low[3] = {kNaN, kNaN, kNaN}, high[3] = {kNaN, kNaN, kNaN};
};

/// AUROC, AUPRC and average precision of each stratum of labelled rows, their mean over strata, and those of
/// all rows together, which a mix of strata with other shares of positive rows can raise.
class StratifiedEvaluation {
 public:
  /// Strata with fewer than `least` rows of a class have no metrics, and no part in the mean and in what
  /// stands for all.
  StratifiedEvaluation(const std::vector<LabelledRow>& rows, size_t strata, uint64_t least)
      : rows_(rows), orders_(strata), lines_(strata + 2) {
    for (const LabelledRow& row : rows) ++(row.positive ? at(row).positive : at(row).negative);
    const std::vector<uint32_t> by_score = order_by(rows, &LabelledRow::score, std::greater<>());
    for (const uint32_t i : by_score) {
      const StratumMetrics& line = at(rows[i]);
      if (line.positive < least || line.negative < least || line.positive * line.negative == 0) continue;
      orders_[rows[i].stratum].push_back(i);
      pooled_.push_back(i);
    }
    for (size_t s = 0; s < strata; ++s)
      for (StratumMetrics* const sum : {&macro(), &pooled()}) {
        sum->positive += orders_[s].empty() ? 0 : lines_[s].positive;
        sum->negative += orders_[s].empty() ? 0 : lines_[s].negative;
      }
    const std::vector<Values> found = measured(Weights(rows.size(), 1));
    for (size_t line = 0; line < lines_.size(); ++line) std::copy_n(found[line].of, 3, lines_[line].values);
  }

  /// Percentile intervals. A sample draws from each stratum as many rows as it has; where a stratum gets a
  /// single class, the sample does not count for it and for the mean.
  template <class Random>
  void bootstrap(uint64_t replicates, double confidence, Random& random) {
    std::vector<std::vector<double>> samples(3 * lines_.size());
    Weights weights(rows_.size());
    for (uint64_t b = 0; b < replicates; ++b) {
      std::fill(weights.begin(), weights.end(), 0u);
      for (const std::vector<uint32_t>& order : orders_)
        for (size_t i = 0; i < order.size(); ++i) ++weights[order[random.below(order.size())]];
      const std::vector<Values> found = measured(weights);
      for (size_t i = 0; i < samples.size(); ++i)
        if (!std::isnan(found[i / 3].of[i % 3])) samples[i].push_back(found[i / 3].of[i % 3]);
    }
    for (size_t i = 0; i < samples.size(); ++i) {
      StratumMetrics& line = lines_[i / 3];
      if (!std::isnan(line.values[i % 3]))
        std::tie(line.low[i % 3], line.high[i % 3]) = percentile_interval(samples[i], confidence);
    }
  }

  /// Of each stratum, then of their mean, then of all rows of those strata together.
  const std::vector<StratumMetrics>& lines() const { return lines_; }
  /// Rows of a stratum by falling score; none if it has no metrics.
  const std::vector<uint32_t>& order(size_t stratum) const { return orders_[stratum]; }

 private:
  struct Values {
    double of[3] = {kNaN, kNaN, kNaN};
  };

  StratumMetrics& at(const LabelledRow& row) { return lines_[row.stratum]; }
  StratumMetrics& macro() { return lines_[orders_.size()]; }
  StratumMetrics& pooled() { return lines_[orders_.size() + 1]; }

  std::vector<Values> measured(const Weights& weights) const {
    std::vector<Values> out;
    double sums[3] = {0, 0, 0}, strata = 0;
    for (const std::vector<uint32_t>& order : orders_) {
      const ClassMetrics one = class_metrics(rows_, order, weights, &LabelledRow::score);
      std::copy_n(one.values, 3, out.emplace_back().of);
      if (order.empty()) continue;
      ++strata;
      for (size_t m = 0; m < 3; ++m) sums[m] += one.values[m];  // NaN of one is that of the mean
    }
    Values& mean = out.emplace_back();
    for (size_t m = 0; strata > 0 && m < 3; ++m) mean.of[m] = sums[m] / strata;
    std::copy_n(class_metrics(rows_, pooled_, weights, &LabelledRow::score).values, 3, out.emplace_back().of);
    return out;
  }

  const std::vector<LabelledRow>& rows_;
  std::vector<std::vector<uint32_t>> orders_;
  std::vector<uint32_t> pooled_;
  std::vector<StratumMetrics> lines_;
};

}  // namespace carbon
