#include "src/report/sections/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/error.hpp"

namespace carbon {
namespace {

constexpr const char* kNoConsequence = "none given";

// Few extreme scores would make all others a single bar: then the bins end earlier, and the values beyond are
// counted beside them.
ScoreBins bins_for(const ScoreSummary& scores) {
  if (scores.count() == 0) return {0, 1};
  const double low = scores.rough_quantile(0.001), high = scores.rough_quantile(0.999);
  const bool cut = high > low && scores.most() - scores.least() > 2 * (high - low);
  return cut ? ScoreBins(low, high) : ScoreBins(scores.least(), scores.most());
}

void join(const ScoreGroup& from, ScoreGroup& to) {
  to.alleles += from.alleles;
  to.scores.add(from.scores);
}

}  // namespace

VariantDistributions::VariantDistributions(const VariantLayout& layout)
    : filters_(!layout.table), consequences_(!layout.consequence_tag.empty()), tags_(layout.tags.size()) {
  names_[static_cast<size_t>(Grouping::all)] = GroupNames({"all"});
  names_[static_cast<size_t>(Grouping::type)] = GroupNames({"SNV", "MNV", "INS", "DEL", "complex", "other"});
}

std::array<size_t, kGroupings> VariantDistributions::numbers(const VariantRecord& record, size_t filter,
                                                             size_t alt) {
  const auto number = [&](Grouping grouping, std::string_view name) {
    return names_[static_cast<size_t>(grouping)].number(name);
  };
  size_t consequence = 0;
  if (consequences_) {
    const std::string& term = record.consequences[alt].term;
    consequence = number(Grouping::consequence, term.empty() ? kNoConsequence : term);
  }
  return {0, number(Grouping::type, record.types[alt]), filter, consequence};
}

template <class Use>
void VariantDistributions::for_alleles(const VariantRecord& record, Use use) {
  const size_t filter =
      filters_ ? names_[static_cast<size_t>(Grouping::filter)].number(record.filter) : size_t{0};
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const std::array<size_t, kGroupings> group = numbers(record, filter, alt);
    for (size_t tag = 0; tag < tags_.size(); ++tag) {
      const float score = record.scores[tag][alt];
      for (size_t by = 0; by < kGroupings; ++by) use(tags_[tag], tags_[tag].by[by], group[by], score);
    }
  }
}

void VariantDistributions::add(const VariantRecord& record) {
  for_alleles(record, [](Tag&, Grouped& grouped, size_t number, float score) {
    if (number >= grouped.groups.size()) grouped.groups.resize(number + 1);
    ScoreGroup& group = grouped.groups[number];
    ++group.alleles;
    if (!std::isnan(score)) group.scores.add(score);
  });
}

// Gives groups their names and order, and joins the small ones.
void VariantDistributions::choose(Grouping grouping, Grouped& grouped) const {
  const std::vector<std::string>& names = names_[static_cast<size_t>(grouping)].names();
  std::vector<ScoreGroup>& groups = grouped.groups;
  std::vector<size_t> order;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i < names.size()) groups[i].name = names[i];
    if (groups[i].alleles > 0) order.push_back(i);
  }
  const auto larger = [&](size_t a, size_t b) {
    const auto size = [&](size_t i) { return std::pair(groups[i].scores.count(), groups[i].alleles); };
    // Those that share a number are joined in any case.
    if ((a == GroupNames::kMost) != (b == GroupNames::kMost)) return b == GroupNames::kMost;
    return size(a) > size(b);
  };
  std::stable_sort(order.begin(), order.end(), larger);
  const bool unnamed = groups.size() > GroupNames::kMost;
  const size_t apart = order.size() > kShown || unnamed ? std::min(order.size(), kShown) - 1 : order.size();
  std::vector<size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(apart), order.end());
  order.resize(apart);
  if (grouping == Grouping::type) std::sort(order.begin(), order.end());
  if (grouping == Grouping::consequence)
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return severity(groups[a].name) < severity(groups[b].name); });

  std::vector<ScoreGroup> shown;
  grouped.shown.assign(groups.size(), order.size());
  for (const size_t i : order) {
    grouped.shown[i] = shown.size();
    shown.push_back(std::move(groups[i]));
  }
  if (!rest.empty()) {
    ScoreGroup& others = shown.emplace_back();
    others.name = unnamed ? "all others" : "the " + std::to_string(rest.size()) + " others";
    for (const size_t i : rest) join(groups[i], others);
  }
  groups = std::move(shown);
}

void VariantDistributions::end_first() {
  for (Tag& tag : tags_) {
    for (size_t by = 0; by < kGroupings; ++by) choose(static_cast<Grouping>(by), tag.by[by]);
    const std::vector<ScoreGroup>& all = tag.by[static_cast<size_t>(Grouping::all)].groups;
    tag.bins = all.empty() ? ScoreBins(0, 1) : bins_for(all[0].scores);
    for (Grouped& grouped : tag.by)
      for (ScoreGroup& group : grouped.groups) group.scores.end_first();
  }
}

void VariantDistributions::add_again(const VariantRecord& record) {
  for_alleles(record, [](Tag& tag, Grouped& grouped, size_t number, float score) {
    if (number >= grouped.shown.size() || grouped.shown[number] >= grouped.groups.size())
      throw Error("report", "a file changed while it was read; run the report again when it is complete");
    if (std::isnan(score)) return;
    ScoreGroup& group = grouped.groups[grouped.shown[number]];
    group.scores.add_again(score);
    group.bins.add(tag.bins, score);
  });
}

bool VariantDistributions::has(Grouping grouping) const {
  if (grouping == Grouping::filter) {
    const std::vector<std::string>& names = names_[static_cast<size_t>(grouping)].names();
    return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name != "."; });
  }
  return grouping != Grouping::consequence || consequences_;
}

const std::vector<ScoreGroup>& VariantDistributions::groups(size_t tag, Grouping grouping) const {
  return tags_[tag].by[static_cast<size_t>(grouping)].groups;
}

}  // namespace carbon
