#include "src/report/sections/thresholds.hpp"

#include <map>

#include "src/report/drawing/chart.hpp"

namespace carbon {
namespace {

constexpr int kSensitivities[] = {99, 95, 90, 80, 70, 50}, kSpecificities[] = {99, 95, 90, 80, 70, 50};  // %

struct Found {
  uint64_t positive = 0, negative = 0;  // rows on the positive side
};

// Why a threshold is in the table, by its group: several rows would say the same.
std::map<size_t, std::string> chosen(const std::vector<Found>& found) {
  const auto positives = static_cast<double>(found.back().positive);
  const auto negatives = static_cast<double>(found.back().negative);
  std::map<size_t, std::string> out;
  const auto add = [&](size_t group, const std::string& why) {
    std::string& text = out[group];
    text += (text.empty() ? "" : "; ") + why;
  };
  // The first that finds as many, and the last that still leaves out as many.
  for (const int share : kSensitivities)
    for (size_t g = 0; g < found.size(); ++g)
      if (100.0 * static_cast<double>(found[g].positive) >= share * positives) {
        add(g, "sensitivity " + std::to_string(share) + " %");
        break;
      }
  for (const int share : kSpecificities)
    for (size_t g = found.size(); g-- > 0;)
      if (100.0 * (negatives - static_cast<double>(found[g].negative)) >= share * negatives) {
        add(g, "specificity " + std::to_string(share) + " %");
        break;
      }
  size_t best = 0;
  const auto sum = [&](const Found& one) {
    return static_cast<double>(one.positive) / positives - static_cast<double>(one.negative) / negatives;
  };
  for (size_t g = 1; g < found.size(); ++g)
    if (sum(found[g]) > sum(found[best])) best = g;
  add(best, "largest sum of both");
  return out;
}

}  // namespace

Table threshold_table(const ScoreGroups& groups, const std::string& tag, const ClassNames& names,
                      bool negate) {
  std::vector<Found> found;
  for (size_t g = 0; g < groups.size(); ++g) {
    Found next = found.empty() ? Found{} : found.back();
    next.positive += groups.counts()[2 * g], next.negative += groups.counts()[2 * g + 1];
    found.push_back(next);
  }
  const auto positives = static_cast<double>(groups.positives());
  const auto negatives = static_cast<double>(groups.negatives());
  using Row = std::pair<size_t, std::string>;  // the group, and why it is in the table
  const auto tp = [&](const Row& row) { return static_cast<double>(found[row.first].positive); };
  const auto fp = [&](const Row& row) { return static_cast<double>(found[row.first].negative); };
  const std::map<size_t, std::string> rows = chosen(found);
  Table out = table_of<Row>(
      "Thresholds of " + tag + ": an allele counts as " + names.positive +
          " if its score is the threshold or " + (negate ? "lower" : "higher"),
      {rows.begin(), rows.end()},
      {{"Threshold", tag, [&](const Row& row) { return groups.threshold(row.first); }},
       {"Sensitivity", "share of the " + names.positive + " alleles that are found",
        [&](const Row& row) { return tp(row) / positives; }},
       {"Specificity", "share of the " + names.negative + " alleles that are not found",
        [&](const Row& row) { return (negatives - fp(row)) / negatives; }},
       {"PPV",
        "positive predictive value: share of " + names.positive +
            " alleles among those found, if the share of them among all is as the page says",
        [&](const Row& row) { return tp(row) / (tp(row) + fp(row)); }},
       {"Found: " + names.positive, "number of alleles", tp, ChartColumn::count},
       {"Found: " + names.negative, "number of alleles", fp, ChartColumn::count},
       {"Reached",
        "The first threshold with this sensitivity, the last with this specificity, and the one with the "
        "largest sum of both",
        &Row::second}});
  out.brief = "Thresholds of " + tag;
  out.predictive = {.sensitivity = 1,
                    .specificity = 2,
                    .value = 3,
                    .share = positives / (positives + negatives),
                    .positive = names.positive};
  return out;
}

}  // namespace carbon
