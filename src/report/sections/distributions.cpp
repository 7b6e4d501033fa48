#include "src/report/sections/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <set>

#include "src/report/drawing/chart.hpp"
#include "src/report/sources/variants.hpp"
#include "src/statistics/ranking.hpp"

namespace carbon {
namespace {

constexpr double kBins = 60;

// An edge is the quotient or product of two numbers without rounding, as far as there are such.
double times_power(double number, int power) {
  return power < 0 ? number / std::pow(10, -power) : number * std::pow(10, power);
}

constexpr const char* kNoConsequence = "none given";

}  // namespace

ScoreBins bins_for(const std::vector<float>& scores) {
  const auto [least, most] = middle_of({scores.begin(), scores.end()});
  return {least, most};
}

GroupNames::GroupNames(const std::vector<std::string>& first) {
  for (const std::string& name : first) number(name);
}

size_t GroupNames::number(std::string_view name) {
  name = name.substr(0, kLength);
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (names_.size() == kMost) return kMost;
  names_.emplace_back(name);
  numbers_.emplace(name, names_.size() - 1);
  return names_.size() - 1;
}

std::vector<std::string> figure_parts(const std::vector<std::string>& tags) {
  std::vector<std::string> out;
  std::set<std::string> taken;
  for (const std::string& tag : tags) out.push_back(free_name("_" + plain_name(tag), taken));
  return out;
}

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
  const auto edge_at = [&](int64_t i) { return times_power(static_cast<double>(i * factor_), power_); };
  auto first = static_cast<int64_t>(std::floor(least / width()));
  while (edge_at(first) > least) --first;
  while (edge_at(first + 1) <= least) ++first;
  edges_ = {edge_at(first), edge_at(first + 1)};
  while (edges_.back() < most) edges_.push_back(edge_at(first + static_cast<int64_t>(edges_.size())));
}

double ScoreBins::width() const {
  return times_power(factor_, power_);
}

int64_t ScoreBins::find(double value) const {
  if (value == edges_.back()) return static_cast<int64_t>(size()) - 1;
  return std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin() - 1;
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

ScoreSummary::ScoreSummary(std::vector<float>& scores) : count(scores.size()) {
  if (scores.empty()) return;
  // Neumaier's sum, and what rounding took from it.
  double sum = 0, lost = 0;
  for (const double score : scores) {
    const double next = sum + score;
    lost += std::abs(sum) >= std::abs(score) ? (sum - next) + score : (score - next) + sum;
    sum = next;
  }
  mean = (sum + lost) / static_cast<double>(count);
  std::sort(scores.begin(), scores.end());
  least = scores.front(), most = scores.back();
  for (size_t q = 0; q < quartiles.size(); ++q)
    quartiles[q] = quantile(scores, static_cast<double>(q + 1) / 4);
}

ScoreGroup score_group(std::string name, std::vector<float>& scores, const ScoreBins& bins,
                       uint64_t missing) {
  ScoreGroup out{std::move(name), scores.size() + missing, ScoreSummary(scores), {}};
  for (const float score : scores) out.bins.add(bins, score);
  return out;
}

VariantDistributions::VariantDistributions(const VariantLayout& layout)
    : filters_(!layout.table), consequences_(!layout.consequence_tag.empty()), tags_(layout.tags.size()) {
  names_[static_cast<size_t>(Grouping::all)] = GroupNames({"all"});
  names_[static_cast<size_t>(Grouping::type)] = GroupNames({"SNV", "MNV", "INS", "DEL", "complex", "other"});
}

void VariantDistributions::add(const VariantRecord& record) {
  const auto number = [&](Grouping grouping, std::string_view name) {
    return static_cast<uint16_t>(names_[static_cast<size_t>(grouping)].number(name));
  };
  const uint16_t filter = filters_ ? number(Grouping::filter, record.filter) : uint16_t{0};
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    uint16_t consequence = 0;
    if (consequences_) {
      const std::string& term = record.consequences[alt].term;
      consequence = number(Grouping::consequence, term.empty() ? kNoConsequence : term);
    }
    alleles_.push_back({0, number(Grouping::type, record.types[alt]), filter, consequence});
    for (size_t tag = 0; tag < tags_.size(); ++tag) tags_[tag].scores.push_back(record.scores[tag][alt]);
  }
}

// Which groups are shown, in their order, and where those go that have a number.
struct VariantDistributions::Shown {
  std::vector<ScoreGroup> groups;  // named, and with the numbers of their alleles
  std::vector<size_t> place;       // of the names' numbers
};

VariantDistributions::Shown VariantDistributions::choose(const Tag& tag, size_t grouping) const {
  const std::vector<std::string>& names = names_[grouping].names();
  struct Size {
    uint64_t scores = 0, alleles = 0;
    auto operator<=>(const Size&) const = default;
  };
  std::vector<Size> sizes(GroupNames::kMost + 1);
  for (size_t i = 0; i < alleles_.size(); ++i) {
    Size& size = sizes[alleles_[i][grouping]];
    ++size.alleles;
    size.scores += !std::isnan(tag.scores[i]);
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].alleles > 0) order.push_back(i);
  // Those that share a number are joined in any case, and so are the small ones.
  const bool unnamed = sizes[GroupNames::kMost].alleles > 0;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if ((a == GroupNames::kMost) != (b == GroupNames::kMost)) return b == GroupNames::kMost;
    return sizes[a] > sizes[b];
  });
  const size_t apart = order.size() > kShown || unnamed ? std::min(order.size(), kShown) - 1 : order.size();
  const std::vector<size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(apart), order.end());
  order.resize(apart);
  if (grouping == static_cast<size_t>(Grouping::type)) std::sort(order.begin(), order.end());
  if (grouping == static_cast<size_t>(Grouping::consequence))
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return severity(names[a]) < severity(names[b]); });

  Shown out;
  out.place.assign(sizes.size(), order.size());
  for (const size_t i : order) {
    out.place[i] = out.groups.size();
    ScoreGroup& group = out.groups.emplace_back();
    if (i < names.size()) group.name = names[i];
    group.alleles = sizes[i].alleles;
  }
  if (!rest.empty()) {
    ScoreGroup& others = out.groups.emplace_back();
    others.name = unnamed ? "all others" : "the " + std::to_string(rest.size()) + " others";
    for (const size_t i : rest) others.alleles += sizes[i].alleles;
  }
  return out;
}

// A group of all alleles has what `all` has, which has the bins already.
std::vector<ScoreGroup> VariantDistributions::summarise(const Tag& tag, size_t grouping,
                                                        const ScoreGroup& all) const {
  Shown shown = choose(tag, grouping);
  if (shown.groups.size() == 1) {
    shown.groups[0].scores = all.scores;
    shown.groups[0].bins = all.bins;
    return std::move(shown.groups);
  }
  std::vector<std::vector<float>> scores(shown.groups.size());
  for (size_t i = 0; i < alleles_.size(); ++i) {
    if (std::isnan(tag.scores[i])) continue;
    scores[shown.place[alleles_[i][grouping]]].push_back(tag.scores[i]);
  }
  for (size_t g = 0; g < scores.size(); ++g) {
    ScoreGroup& group = shown.groups[g];
    group = score_group(group.name, scores[g], tag.bins, group.alleles - scores[g].size());
  }
  return std::move(shown.groups);
}

void VariantDistributions::finish() {
  for (Tag& tag : tags_) {
    std::vector<float> scores;
    std::copy_if(tag.scores.begin(), tag.scores.end(), std::back_inserter(scores),
                 [](float score) { return !std::isnan(score); });
    // All alleles first, because they give the bins.
    tag.bins = bins_for(scores);
    const ScoreGroup all = score_group("", scores, tag.bins);
    for (size_t by = 0; by < kGroupings; ++by) tag.groups[by] = summarise(tag, by, all);
  }
}

bool VariantDistributions::has(Grouping grouping) const {
  if (grouping == Grouping::filter) {
    const std::vector<std::string>& names = names_[static_cast<size_t>(grouping)].names();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name != "."; });
  }
  return grouping != Grouping::consequence || consequences_;
}

Sample VariantDistributions::sample(size_t tag, const ScoreTag& of) const {
  Sample out{of.name, of.unit, ScoreFigure().item, {}, 0};
  for (const float score : tags_[tag].scores) {
    if (std::isnan(score))
      ++out.missing;
    else
      out.values.push_back(score);
  }
  return out;
}

const std::vector<ScoreGroup>& VariantDistributions::groups(size_t tag, Grouping grouping) const {
  return tags_[tag].groups[static_cast<size_t>(grouping)];
}

}  // namespace carbon
