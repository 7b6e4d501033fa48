#include "src/report/sections/score_bins.hpp"

#include <algorithm>
#include <cmath>

namespace carbon {
namespace {

constexpr double kBins = 60;

// An edge is the quotient or product of two numbers without rounding, as far as there are such.
double times_power(double number, int power) {
  return power < 0 ? number / std::pow(10, -power) : number * std::pow(10, power);
}

}  // namespace

ScoreBins::ScoreBins(double least, double most) {
  const double size = std::max(std::abs(least), std::abs(most));
  // Equal values get a few bins of a width that suits their size.
  const double equal = size == 0 ? 1 : size;
  const double range = std::max({most > least ? most - least : equal, 1e-5 * size, 1e-30});
  power_ = static_cast<int>(std::floor(std::log10(range / kBins)));
  for (const int factor : {5, 2, 1})
    if (times_power(factor, power_) <= range / kBins * 1.000001) {
      factor_ = factor;
      break;
    }
  const auto steps = [&](double value) { return static_cast<int64_t>(std::floor(value / width())); };
  first_ = steps(least);
  while (edge(0) > least) --first_;
  while (edge(1) <= least) ++first_;
  size_ = 1;
  while (edge(size_) < most) ++size_;
}

double ScoreBins::width() const {
  return times_power(factor_, power_);
}

double ScoreBins::edge(size_t i) const {
  return times_power(static_cast<double>((first_ + static_cast<int64_t>(i)) * factor_), power_);
}

int64_t ScoreBins::find(double value) const {
  if (value < edge(0)) return -1;
  if (value > edge(size_)) return static_cast<int64_t>(size_);
  const double steps = std::floor(value / width()) - static_cast<double>(first_);
  auto bin = static_cast<size_t>(std::clamp(steps, 0.0, static_cast<double>(size_ - 1)));
  while (bin > 0 && value < edge(bin)) --bin;
  while (bin + 1 < size_ && value >= edge(bin + 1)) ++bin;
  return static_cast<int64_t>(bin);
}

void BinCounts::add(const ScoreBins& bins, float value) {
  if (counts.empty()) counts.resize(bins.size());
  const int64_t bin = bins.find(static_cast<double>(value));
  if (bin < 0)
    ++below;
  else if (bin >= static_cast<int64_t>(bins.size()))
    ++above;
  else
    ++counts[static_cast<size_t>(bin)];
}

}  // namespace carbon
