#include "src/report/sections/distributions.hpp"

#include <algorithm>
#include <compare>
#include <iterator>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/statistics/ranking.hpp"

namespace carbon {
namespace {

constexpr double kBins = 60;

// An edge is the quotient or product of two numbers without rounding, as far as there are such.
double times_power(double number, int power) {
  return power < 0 ? number / std::pow(10, -power) : number * std::pow(10, power);
}

constexpr const char* kNoConsequence = "none given";
constexpr size_t kLongestName = 200;  // letters

constexpr double kRow = 46;
constexpr double kBoxOpacity = 0.55;  // of the middle half
constexpr size_t kLabel = 34;         // letters of a group's name beside its row

std::string axis_label(const ScoreTag& tag) {
  return with_unit(cut_text(tag.name, 60), tag.unit);
}

// What lies beside the bins, so that no score is silently missing from a picture.
std::string beyond_words(const ScoreBins& bins, uint64_t below, uint64_t above) {
  std::string out;
  if (below > 0) out += plural(below, "score") + " below " + value_text(bins.edge(0));
  if (above > 0)
    out += (out.empty() ? "" : " and ") + plural(above, "score") + " above " +
           value_text(bins.edge(bins.size()));
  if (out.empty()) return "";
  return "Not drawn, but counted everywhere else: " + out + ".";
}

std::string bins_words(const ScoreBins& bins) {
  return "Bins are " + general_text(bins.width(), 12) +
         " wide; each has the values from its lower edge up to, but not including, its upper edge, which "
         "only the last one has.";
}

// "alleles" of alternative alleles.
std::string items_of(const ScoreFigure& about) {
  return about.item.substr(about.item.rfind(' ') + 1) + "s";
}

std::string sign_words(const ScoreFigure& about) {
  return about.tag.unit != "nats" || about.item == "base"
             ? ""
             : "A negative score means that the model finds the alternative less likely.";
}

// A row for each bin and a column for each group, with what lies beside the bins where there is any; and a
// hidden column for each group, the share of its scores.
Chart bin_chart(const ScoreFigure& about, const std::vector<const ScoreGroup*>& groups,
                const ScoreBins& bins) {
  const auto size = static_cast<int64_t>(bins.size());
  const auto edge = [&bins, size](int64_t i) {
    return i < 0 || i > size ? NAN : bins.edge(static_cast<size_t>(i));
  };
  const auto count = [size](const ScoreGroup& group, int64_t bin) {
    return bin < 0       ? group.bins.below
           : bin == size ? group.bins.above
                         : group.bins.counts[static_cast<size_t>(bin)];
  };
  std::vector<Field<int64_t>> fields = {
      {"From", "Lower edge of the bin", edge, ChartColumn::edge},
      {"To", "Upper edge of the bin", [edge](int64_t bin) { return edge(bin + 1); }, ChartColumn::edge}};
  for (const ScoreGroup* group : groups)
    fields.push_back({cut_text(group->name, 60), "Number of " + about.item + "s with a score in the bin",
                      [=](int64_t bin) { return count(*group, bin); }, ChartColumn::count});
  for (const ScoreGroup* group : groups)
    fields.push_back({"", "",
                      [=](int64_t bin) {
                        return static_cast<double>(count(*group, bin)) /
                               static_cast<double>(group->scores.count);
                      },
                      ChartColumn::hidden});
  std::vector<int64_t> rows;
  for (int64_t bin = -1; bin <= size; ++bin) {
    const bool any = std::any_of(groups.begin(), groups.end(),
                                 [&](const ScoreGroup* group) { return count(*group, bin) > 0; });
    if (any || (bin >= 0 && bin < size)) rows.push_back(bin);
  }
  Chart out;
  out.name = about.name;
  out.x = {axis_label(about.tag), bins.edge(0), bins.edge(bins.size())};
  out.columns = columns_of(rows, fields);
  return out;
}

// The middle half as a bar, the median as a line across it.
void draw_box(const ScoreSummary& scores, Plot& plot, double top, double height) {
  const auto inside = [&](double value) { return std::clamp(plot.x(value), plot.left(), plot.right()); };
  const double low = inside(scores.quartiles[0]), high = inside(scores.quartiles[2]);
  plot.marks().path(box_path(low, top + 2, std::max(high - low, 1.0), height - 4), theme::kMark,
                    opacity_of(kBoxOpacity));
  const double median = plot.x(scores.quartiles[1]);
  if (median >= plot.left() && median <= plot.right())
    plot.marks().stroke("M" + px(median) + " " + px(top - 2) + "v" + px(height + 4), theme::kInk, 2);
}

void note_beyond(const BinCounts& counts, Plot& plot, double y) {
  if (counts.below > 0)
    plot.marks().text(plot.left() + 4, y, "\u2190 " + count_text(counts.below), {.anchor = Anchor::start});
  if (counts.above > 0)
    plot.marks().text(plot.right() - 4, y, count_text(counts.above) + " \u2192", {.anchor = Anchor::end});
}

// What the bars of draw_box() are, beside the entries of the steps.
std::vector<LegendEntry> box_legend(LegendEntry steps) {
  return {std::move(steps),
          {.name = "middle half", .colour = theme::kMark, .opacity = kBoxOpacity},
          {"median", theme::kInk, LegendEntry::line}};
}

}  // namespace

ScoreBins bins_for(const std::vector<float>& scores) {
  const auto [least, most] = middle_of({scores.begin(), scores.end()});
  return {least, most};
}

GroupNames::GroupNames(const std::vector<std::string>& first, size_t most) : most_(most) {
  for (const std::string& name : first) number(name);
}

size_t GroupNames::number(const std::string& name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (names_.size() == most_) return most_;
  names_.push_back(name);
  return numbers_[name] = names_.size() - 1;
}

ScoreBins::ScoreBins(double least, double most) {
  const double size = std::max(std::abs(least), std::abs(most));
  // Equal values get one bin, of a width that suits their size.
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
  std::vector<uint64_t>& counts = out.bins.counts;
  counts.resize(bins.size());
  for (const float score : scores) {
    const auto bin = bins.find(score);
    ++(bin < 0                    ? out.bins.below
       : bin < std::ssize(counts) ? counts[static_cast<size_t>(bin)]
                                  : out.bins.above);
  }
  return out;
}

VariantDistributions::VariantDistributions(const VariantLayout& layout)
    : filters_(!layout.table), consequences_(!layout.consequence_tag.empty()), tags_(layout.tags.size()) {
  names_[static_cast<size_t>(Grouping::all)] = GroupNames({"all"});
  names_[static_cast<size_t>(Grouping::type)] = GroupNames({"SNV", "MNV", "INS", "DEL", "complex", "other"});
}

void VariantDistributions::add(const VariantRecord& record) {
  const auto number = [&](Grouping grouping, std::string_view name) {
    return static_cast<uint16_t>(names_[static_cast<size_t>(grouping)].number(cut_text(name, kLongestName)));
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

// ---- What is drawn of them: a histogram of all, and one row for each group

Figure score_histogram(const ScoreFigure& about, const ScoreGroup& all, const ScoreBins& bins) {
  const ScoreSummary& scores = all.scores;
  const std::string items = items_of(about);
  Chart out = bin_chart(about, {&all}, bins);
  out.title = "Scores of all " + items + ": " + cut_text(about.tag.name, 60);
  out.height = 300;
  const std::vector<uint64_t>& counts = all.bins.counts;
  out.columns[2].name = std::string(1, capital_letter(items[0])) + items.substr(1);
  out.y = count_axis(out.columns[2].name + " per bin",
                     1.1 * static_cast<double>(*std::max_element(counts.begin(), counts.end())));
  out.series = {{.mark = Series::steps, .name = about.sample, .colour = theme::kLine, .value = 2}};
  out.legend = box_legend({items + ", n = " + count_text(scores.count), theme::kLine});
  out.above = [&](Plot& plot) {
    draw_box(scores, plot, plot.top(), 10);
    note_beyond(all.bins, plot, plot.bottom() - 6);
  };
  out.what = "Histogram of " + axis_label(about.tag) + " of " + plural(scores.count, about.item) + ". " +
             bins_words(bins);
  out.how = "The bar above has the middle half of the scores, and the line in it is the median.";
  out.facts = sentences({"The middle half lies between " + value_text(scores.quartiles[0]) + " and " +
                             value_text(scores.quartiles[2]) + ", and the median is " +
                             value_text(scores.quartiles[1]) + ".",
                         beyond_words(bins, all.bins.below, all.bins.above), sign_words(about)});
  out.words = "The scores lie between " + value_text(scores.least) + " and " + value_text(scores.most) +
              ", half of them below " + value_text(scores.quartiles[1]) + ".";
  return figure_of(out);
}

Figure score_rows(const ScoreFigure& about, const std::string& by, const std::vector<ScoreGroup>& groups,
                  const ScoreBins& bins) {
  std::vector<const ScoreGroup*> drawn;
  for (const ScoreGroup& group : groups)
    if (group.scores.count > 0) drawn.push_back(&group);
  Chart out = bin_chart(about, drawn, bins);
  out.title = "Scores by " + by + ": " + cut_text(about.tag.name, 60);
  out.height = 110 + kRow * static_cast<double>(drawn.size());
  out.rows_of_steps = true;
  std::vector<std::string> labels;
  uint64_t all = 0, below = 0, above = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const ScoreGroup& group = *drawn[i];
    labels.push_back(cut_text(group.name, kLabel) + ", n = " + count_text(group.scores.count));
    all += group.scores.count, below += group.bins.below, above += group.bins.above;
    out.series.push_back({.mark = Series::steps,
                          .name = group.name,
                          .colour = theme::kArea,
                          .value = 2 + drawn.size() + i,
                          .edge = theme::kLine});
  }
  out.y = category_axis("", labels);
  out.legend = box_legend({.name = items_of(about) + " per bin, highest bin of a row at full height",
                           .colour = theme::kArea,
                           .edge = theme::kLine});
  out.above = [&](Plot& plot) {
    const double row = (plot.bottom() - plot.top()) / static_cast<double>(drawn.size());
    for (size_t i = 0; i < drawn.size(); ++i) {
      const double base = plot.y(static_cast<double>(i)) + 0.5 * row - 12;
      draw_box(drawn[i]->scores, plot, base + 1, 9);
      note_beyond(drawn[i]->bins, plot, base - 4);
    }
  };
  out.what = axis_label(about.tag) + " of " + plural(all, about.item) + " by " + by +
             ", a histogram for each of " + plural(drawn.size(), "group") + ". " + bins_words(bins);
  out.how =
      "n is the number of scores. The bar below has the middle half of the scores, and the line in it is the "
      "median.";
  out.facts = sentences({beyond_words(bins, below, above), sign_words(about)});
  const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end(), [](const auto* a, const auto* b) {
    return a->scores.quartiles[1] < b->scores.quartiles[1];
  });
  out.words = "The lowest median is that of " + cut_text((*low)->name, kLabel) + ", " +
              value_text((*low)->scores.quartiles[1]) + "; the highest is that of " +
              cut_text((*high)->name, kLabel) + ", " + value_text((*high)->scores.quartiles[1]) + ".";
  return figure_of(out);
}

Table score_table(const ScoreFigure& about, const std::vector<NamedGroups>& all) {
  std::string items = about.item + "s";
  items[0] = capital_letter(items[0]);
  using Row = std::pair<std::string, const ScoreGroup*>;
  std::vector<Row> rows;
  for (const auto& [by, groups] : all)
    for (const ScoreGroup& group : *groups) rows.emplace_back(by, &group);
  const auto quartile = [](size_t q) {
    return [q](const Row& row) { return row.second->scores.quartiles[q]; };
  };
  return table_of<Row>(
      "Scores in numbers: " + axis_label(about.tag), rows,
      {{"By", "", &Row::first},
       {"Group", "", [](const Row& row) { return cut_text(row.second->name, 60); }},
       {"Scores", items + " with a score", [](const Row& row) { return row.second->scores.count; },
        ChartColumn::grouped},
       {"Missing", items + " without a score",
        [](const Row& row) { return row.second->alleles - row.second->scores.count; }, ChartColumn::grouped},
       {"Mean", "", [](const Row& row) { return row.second->scores.mean; }},
       {"Minimum", "", [](const Row& row) { return row.second->scores.least; }},
       {"Quartile 1", "A quarter of the scores is lower", quartile(0)},
       {"Median", "", quartile(1)},
       {"Quartile 3", "A quarter of the scores is higher", quartile(2)},
       {"Maximum", "", [](const Row& row) { return row.second->scores.most; }}});
}

}  // namespace carbon
