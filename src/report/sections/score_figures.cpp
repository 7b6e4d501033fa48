// Draws the scores of alleles: a histogram of all, and one row for each group. distributions.cpp counts them.

#include <algorithm>
#include <cmath>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/distributions.hpp"

namespace carbon {
namespace {

constexpr double kRow = 46;
constexpr double kBoxOpacity = 0.55;  // of the middle half
constexpr size_t kLabel = 34;         // bytes of a group's name beside its row

std::string axis_label(const ScoreTag& tag) {
  return with_unit(cut_text(tag.name, 60), tag.unit);
}

uint64_t highest(const BinCounts& bins) {
  return bins.counts.empty() ? 0 : *std::max_element(bins.counts.begin(), bins.counts.end());
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
  std::string width;
  append_general(bins.width(), 12, width);
  return "Bins are " + width +
         " wide; each has the values from its lower edge up to, but not including, its upper edge.";
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
  Chart out;
  out.name = about.name;
  out.x = {axis_label(about.tag), bins.edge(0), bins.edge(bins.size()), false, {}};
  out.columns = {{.name = "From", .about = "Lower edge of the bin", .form = ChartColumn::edge},
                 {.name = "To", .about = "Upper edge of the bin", .form = ChartColumn::edge}};
  for (const ScoreGroup* group : groups)
    out.columns.push_back({.name = cut_text(group->name, 60),
                           .about = "Number of " + about.item + "s with a score in the bin",
                           .form = ChartColumn::count});
  for (size_t g = 0; g < groups.size(); ++g) out.columns.push_back({.form = ChartColumn::hidden});
  const auto row = [&](double from, double to, auto count) {
    out.columns[0].numbers.push_back(from);
    out.columns[1].numbers.push_back(to);
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto value = static_cast<double>(count(groups[g]->bins));
      out.columns[2 + g].numbers.push_back(value);
      out.columns[2 + groups.size() + g].numbers.push_back(value /
                                                           static_cast<double>(groups[g]->scores.count));
    }
  };
  const auto any = [&](auto count) {
    return std::any_of(groups.begin(), groups.end(), [&](const ScoreGroup* g) { return count(g->bins) > 0; });
  };
  const auto below = [](const BinCounts& counts) { return counts.below; };
  const auto above = [](const BinCounts& counts) { return counts.above; };
  if (any(below)) row(NAN, bins.edge(0), below);
  for (size_t i = 0; i < bins.size(); ++i)
    row(bins.edge(i), bins.edge(i + 1),
        [i](const BinCounts& counts) { return counts.counts.empty() ? 0 : counts.counts[i]; });
  if (any(above)) row(bins.edge(bins.size()), NAN, above);
  return out;
}

// The middle half as a bar, the median as a line across it.
void draw_box(const ScoreSummary& scores, Plot& plot, double top, double height) {
  const auto inside = [&](double value) { return std::clamp(plot.x(value), plot.left(), plot.right()); };
  const double low = inside(scores.quartiles[0]), high = inside(scores.quartiles[2]);
  std::string digits;
  append_general(kBoxOpacity, 3, digits);
  plot.marks().path(box_path(low, top + 2, std::max(high - low, 1.0), height - 4), theme::kMark,
                    " fill-opacity=\"" + digits + "\"");
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

Figure score_histogram(const ScoreFigure& about, const ScoreGroup& all, const ScoreBins& bins) {
  const ScoreSummary& scores = all.scores;
  const std::string items = items_of(about);
  Chart out = bin_chart(about, {&all}, bins);
  out.title = "Scores of all " + items + ": " + cut_text(about.tag.name, 60);
  out.height = 300;
  out.y = count_axis(std::string(1, capital_letter(items[0])) + items.substr(1) + " per bin",
                     1.1 * static_cast<double>(highest(all.bins)));
  out.columns[2].name = std::string(1, capital_letter(items[0])) + items.substr(1);
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
       {"Quartile 1", "A quarter of the scores is lower (linear between neighbours)", quartile(0)},
       {"Median", "", quartile(1)},
       {"Quartile 3", "A quarter of the scores is higher (linear between neighbours)", quartile(2)},
       {"Maximum", "", [](const Row& row) { return row.second->scores.most; }}});
}

}  // namespace carbon
