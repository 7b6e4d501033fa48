// AUROC, AUPRC and average precision of each stratum of labelled rows, their mean over strata, and those of
// all rows together, which a mix of strata with other shares of positive rows can raise.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "src/statistics/ranking.hpp"

namespace carbon {

/// A line of the table: counts, and three metrics with their interval.
struct StratumMetrics {
  uint64_t positive = 0, negative = 0;
  double values[3] = {kNaN, kNaN, kNaN};
  double low[3] = {kNaN, kNaN, kNaN}, high[3] = {kNaN, kNaN, kNaN};
};

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
      std::sort(samples[i].begin(), samples[i].end());
      if (std::isnan(lines_[i / 3].values[i % 3])) continue;
      lines_[i / 3].low[i % 3] = quantile(samples[i], (1 - confidence) / 2);
      lines_[i / 3].high[i % 3] = quantile(samples[i], (1 + confidence) / 2);
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
