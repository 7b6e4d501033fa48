// How well a score ranks labelled rows: AUROC, AUPRC, average precision and Spearman, of all rows or of a
// bootstrap sample of them.
//
// The definitions are scikit-learn's and scipy's: ties share a threshold of a curve and an average rank.
// Knows neither tags nor records.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace carbon_plugins {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Row {
  double score = 0, value = 0;
  bool positive = false;
  uint32_t chromosome = 0;
};

/// How often each row counts: all once, or as a bootstrap sample drew them.
using Weights = std::vector<uint32_t>;

struct ClassMetrics {
  double values[3] = {kNaN, kNaN, kNaN};  // AUROC, AUPRC, average precision
  uint64_t positive = 0, negative = 0;
  bool defined() const { return positive > 0 && negative > 0; }
};

/// `order` lists rows by falling score. NaN with one class alone.
inline ClassMetrics class_metrics(const std::vector<Row>& rows, const std::vector<uint32_t>& order,
                                  const Weights& weights) {
  ClassMetrics out;
  for (const uint32_t i : order) (rows[i].positive ? out.positive : out.negative) += weights[i];
  if (!out.defined()) return out;
  const auto positives = static_cast<double>(out.positive), negatives = static_cast<double>(out.negative);
  double tp = 0, fp = 0, last_precision = 1, pairs = 0, trapezoids = 0, steps = 0;
  for (size_t begin = 0; begin < order.size();) {
    double group_tp = 0, group_fp = 0;
    size_t end = begin;
    for (; end < order.size() && rows[order[end]].score == rows[order[begin]].score; ++end)
      (rows[order[end]].positive ? group_tp : group_fp) += weights[order[end]];
    begin = end;
    if (group_tp + group_fp == 0) continue;  // no row of a sample has this score
    pairs += group_fp * (tp + group_tp / 2);
    tp += group_tp;
    fp += group_fp;
    const double precision = tp / (tp + fp);
    trapezoids += group_tp / positives * (precision + last_precision) / 2;
    steps += group_tp / positives * precision;
    last_precision = precision;
  }
  out.values[0] = pairs / (positives * negatives);
  out.values[1] = trapezoids;
  out.values[2] = steps;
  return out;
}

/// Average ranks, from 1, of a member of each row; `order` is sorted by it.
inline std::vector<double> ranks(const std::vector<Row>& rows, const std::vector<uint32_t>& order,
                                 const Weights& weights, double Row::*key) {
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

/// Everything that one set of weights is asked for.
struct Metrics {
  static constexpr size_t kCount = 7;
  static constexpr const char* kNames[kCount] = {
      "auroc",          "auprc",          "average_precision",
      "auroc_by_chrom", "auprc_by_chrom", "average_precision_by_chrom",
      "spearman"};
  double values[kCount] = {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
};

class Evaluation {
 public:
  Evaluation(const std::vector<Row>& rows, size_t chromosomes, bool classes)
      : rows_(rows), classes_(classes), by_score_(rows.size()), by_chromosome_(chromosomes) {
    std::iota(by_score_.begin(), by_score_.end(), 0u);
    by_value_ = by_score_;
    std::stable_sort(by_score_.begin(), by_score_.end(),
                     [&](uint32_t a, uint32_t b) { return rows[a].score > rows[b].score; });
    std::stable_sort(by_value_.begin(), by_value_.end(),
                     [&](uint32_t a, uint32_t b) { return rows[a].value > rows[b].value; });
    for (const uint32_t i : by_score_) by_chromosome_[rows[i].chromosome].push_back(i);
  }

  Metrics metrics(const Weights& weights) const {
    Metrics out;
    if (classes_) {
      const ClassMetrics all = class_metrics(rows_, by_score_, weights);
      std::copy_n(all.values, 3, out.values);
      add_by_chromosome(weights, out);
    }
    out.values[6] = spearman(weights);
    return out;
  }
  ClassMetrics chromosome(size_t number, const Weights& weights) const {
    return class_metrics(rows_, by_chromosome_[number], weights);
  }

 private:
  // The mean over chromosomes, each weighted by its rows; those with one class are left out.
  void add_by_chromosome(const Weights& weights, Metrics& out) const {
    double sums[3] = {0, 0, 0}, total = 0;
    for (const std::vector<uint32_t>& order : by_chromosome_) {
      const ClassMetrics one = class_metrics(rows_, order, weights);
      if (!one.defined()) continue;
      const auto count = static_cast<double>(one.positive + one.negative);
      for (size_t i = 0; i < 3; ++i) sums[i] += count * one.values[i];
      total += count;
    }
    for (size_t i = 0; total > 0 && i < 3; ++i) out.values[3 + i] = sums[i] / total;
  }

  double spearman(const Weights& weights) const {
    const std::vector<double> x = ranks(rows_, by_score_, weights, &Row::score);
    const std::vector<double> y = ranks(rows_, by_value_, weights, &Row::value);
    double count = 0;
    for (const uint32_t weight : weights) count += weight;
    const double middle = (count + 1) / 2;
    double xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      xy += weights[i] * (x[i] - middle) * (y[i] - middle);
      xx += weights[i] * (x[i] - middle) * (x[i] - middle);
      yy += weights[i] * (y[i] - middle) * (y[i] - middle);
    }
    return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNaN;
  }

  const std::vector<Row>& rows_;
  bool classes_;
  std::vector<uint32_t> by_score_, by_value_;
  std::vector<std::vector<uint32_t>> by_chromosome_;
};

/// The quantile at `share` of sorted values, linear between neighbours.
inline double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return kNaN;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace carbon_plugins
