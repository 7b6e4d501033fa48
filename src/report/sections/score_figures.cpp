// Draws the scores of alleles: a histogram of all, and one row for each group. distributions.cpp counts them.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/distributions.hpp"

namespace carbon {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWidth = 760, kRow = 46;
constexpr double kBoxOpacity = 0.55;  // of the middle half
constexpr size_t kLabel = 34;         // bytes of a group's name beside its row

std::string axis_label(const ScoreTag& tag) {
  return with_unit(cut_text(tag.name, 60), tag.unit);
}

// An edge is a round number, and stands with all its digits.
std::string edge_text(double edge) {
  std::string text;
  append_general(edge, 12, text);
  return text;
}

Axis score_axis(const ScoreTag& tag, const ScoreBins& bins) {
  return {axis_label(tag), bins.edge(0), bins.edge(bins.size()), false, {}};
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
  return " Not drawn, but counted everywhere else: " + out + ".";
}

std::string bins_words(const ScoreBins& bins) {
  return "Bins are " + edge_text(bins.width()) +
         " wide; each has the values from its lower edge up to, but not including, its upper edge.";
}

std::string sign_words(const ScoreTag& tag) {
  return tag.unit.empty() ? "" : " A negative score means that the model finds the alternative less likely.";
}

// A row for each bin and a column for each group, with what lies beside the bins where there is any.
Table bin_table(const std::vector<const ScoreGroup*>& groups, const ScoreBins& bins,
                const std::string& count_of) {
  Table out;
  out.columns = {{"From", "Lower edge of the bin", true}, {"To", "Upper edge of the bin", true}};
  for (const ScoreGroup* group : groups)
    out.columns.push_back({count_of.empty() ? cut_text(group->name, 60) : count_of,
                           "Number of alternative alleles with a score in the bin", true});
  const auto row = [&](std::string from, std::string to, auto count) {
    std::vector<std::string> texts = {std::move(from), std::move(to)};
    for (const ScoreGroup* group : groups) texts.push_back(std::to_string(count(group->bins)));
    out.rows.push_back(std::move(texts));
  };
  const auto any = [&](auto count) {
    return std::any_of(groups.begin(), groups.end(), [&](const ScoreGroup* g) { return count(g->bins) > 0; });
  };
  const auto below = [](const BinCounts& counts) { return counts.below; };
  const auto above = [](const BinCounts& counts) { return counts.above; };
  if (any(below)) row(".", edge_text(bins.edge(0)), below);
  for (size_t i = 0; i < bins.size(); ++i)
    row(edge_text(bins.edge(i)), edge_text(bins.edge(i + 1)),
        [i](const BinCounts& counts) { return counts.counts.empty() ? 0 : counts.counts[i]; });
  if (any(above)) row(edge_text(bins.edge(bins.size())), ".", above);
  return out;
}

double middle_of(const ScoreBins& bins, size_t i) {
  return (bins.edge(i) + bins.edge(i + 1)) / 2;
}

// The outline of a histogram on a base line, from the first bin with a value to the last.
std::string steps_path(const BinCounts& counts, const ScoreBins& bins, const Plot& plot, double base,
                       double height) {
  const double most = static_cast<double>(highest(counts));
  std::string path;
  for (size_t i = 0; i < counts.counts.size(); ++i) {
    if (counts.counts[i] == 0) continue;
    const double tall = height * static_cast<double>(counts.counts[i]) / most;
    const double left = plot.x(bins.edge(i)), right = plot.x(bins.edge(i + 1));
    path += box_path(left, base - tall, right - left, tall);
  }
  return path;
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

Json points_of(const ScoreGroup& group, const ScoreBins& bins, double scale) {
  Json points = Json::array();
  for (size_t i = 0; i < group.bins.counts.size(); ++i)
    points.push_back({middle_of(bins, i), static_cast<double>(group.bins.counts[i]) * scale});
  return points;
}

}  // namespace

Figure score_histogram(const ScoreFigure& about, const ScoreGroup& all, const ScoreBins& bins) {
  Figure out;
  out.name = about.name;
  out.title = "Scores of all alleles: " + cut_text(about.tag.name, 60);
  Plot plot(out.title, kWidth, 300, score_axis(about.tag, bins),
            round_axis("Alleles per bin", 0, 1.1 * static_cast<double>(highest(all.bins))));
  const LegendEntry legend[] = {{"alleles, n = " + count_text(all.scores.count), theme::kLine},
                                {.name = "middle half", .colour = theme::kMark, .opacity = kBoxOpacity},
                                {"median", theme::kInk, LegendEntry::line}};
  plot.legend(legend);
  plot.marks().path(steps_path(all.bins, bins, plot, plot.bottom(),
                               plot.bottom() - plot.y(static_cast<double>(highest(all.bins)))),
                    theme::kLine);
  draw_box(all.scores, plot, plot.top(), 10);
  note_beyond(all.bins, plot, plot.bottom() - 6);
  out.svg = plot.picture();

  const ScoreSummary& scores = all.scores;
  out.caption = "Histogram of " + axis_label(about.tag) + " of " +
                plural(scores.count, "alternative allele") + ". " + bins_words(bins) +
                " The bar above has the middle half of the scores, from " + value_text(scores.quartiles[0]) +
                " to " + value_text(scores.quartiles[2]) + ", and the line in it is the median, " +
                value_text(scores.quartiles[1]) + "." + beyond_words(bins, all.bins.below, all.bins.above) +
                sign_words(about.tag);
  out.words = "The scores lie between " + value_text(scores.least) + " and " + value_text(scores.most) +
              ", half of them below " + value_text(scores.quartiles[1]) + ".";
  out.numbers = bin_table({&all}, bins, "Alleles");
  Json multiqc =
      multiqc_plot("linegraph", about.name, "carbon: " + out.title, axis_label(about.tag), "Alleles per bin");
  multiqc["data"][about.sample] = points_of(all, bins, 1);
  out.multiqc = json_text(multiqc);
  return out;
}

Figure score_rows(const ScoreFigure& about, const std::string& by, const std::vector<ScoreGroup>& groups,
                  const ScoreBins& bins) {
  std::vector<const ScoreGroup*> drawn;
  for (const ScoreGroup& group : groups)
    if (group.scores.count > 0) drawn.push_back(&group);
  Figure out;
  out.name = about.name;
  out.title = "Scores by " + by + ": " + cut_text(about.tag.name, 60);
  std::vector<std::string> labels;
  uint64_t all = 0, below = 0, above = 0;
  for (const ScoreGroup* group : drawn) {
    labels.push_back(cut_text(group->name, kLabel) + ", n = " + count_text(group->scores.count));
    all += group->scores.count, below += group->bins.below, above += group->bins.above;
  }
  Plot plot(out.title, kWidth, 110 + kRow * static_cast<double>(drawn.size()), score_axis(about.tag, bins),
            category_axis("", labels));
  const LegendEntry legend[] = {{.name = "alleles per bin, highest bin of a row at full height",
                                 .colour = theme::kArea,
                                 .edge = theme::kLine},
                                {.name = "middle half", .colour = theme::kMark, .opacity = kBoxOpacity},
                                {"median", theme::kInk, LegendEntry::line}};
  plot.legend(legend);
  const double row = (plot.bottom() - plot.top()) / static_cast<double>(drawn.size());
  Json multiqc = multiqc_plot("linegraph", about.name, "carbon: " + out.title, axis_label(about.tag),
                              "Share of the alleles of the group");
  for (size_t i = 0; i < drawn.size(); ++i) {
    const ScoreGroup& group = *drawn[i];
    const double base = plot.y(static_cast<double>(i)) + 0.5 * row - 12;
    plot.marks().path(steps_path(group.bins, bins, plot, base, row - 16), theme::kArea,
                      " stroke=\"" + std::string(theme::kLine) + "\" stroke-width=\"0.5\"");
    plot.marks().stroke("M" + px(plot.left()) + " " + px(base) + "H" + px(plot.right()), theme::kGrid);
    draw_box(group.scores, plot, base + 1, 9);
    note_beyond(group.bins, plot, base - 4);
    multiqc["data"][group.name] = points_of(group, bins, 1.0 / static_cast<double>(group.scores.count));
  }
  out.svg = plot.picture();

  const auto low = std::min_element(drawn.begin(), drawn.end(), [](const auto* a, const auto* b) {
    return a->scores.quartiles[1] < b->scores.quartiles[1];
  });
  const auto high = std::max_element(drawn.begin(), drawn.end(), [](const auto* a, const auto* b) {
    return a->scores.quartiles[1] < b->scores.quartiles[1];
  });
  out.caption = axis_label(about.tag) + " of " + plural(all, "alternative allele") + " by " + by +
                ", a histogram for each of " + plural(drawn.size(), "group") +
                "; n is the number of scores. " + bins_words(bins) +
                " The bar below has the middle half of the scores, and the line in it is the median." +
                beyond_words(bins, below, above) + sign_words(about.tag);
  out.words = "The lowest median is that of " + cut_text((*low)->name, kLabel) + ", " +
              value_text((*low)->scores.quartiles[1]) + "; the highest is that of " +
              cut_text((*high)->name, kLabel) + ", " + value_text((*high)->scores.quartiles[1]) + ".";
  out.numbers = bin_table(drawn, bins, "");
  out.multiqc = json_text(multiqc);
  return out;
}

Table score_table(const ScoreTag& tag, const std::vector<NamedGroups>& all) {
  Table out;
  out.title = "Scores in numbers: " + axis_label(tag);
  out.columns = {{"By"},
                 {"Group"},
                 {"Scores", "Alternative alleles with a score", true},
                 {"Missing", "Alternative alleles without a score", true},
                 {"Mean", "", true},
                 {"Least", "", true},
                 {"Quartile 1", "A quarter of the scores is lower (linear between neighbours)", true},
                 {"Median", "", true},
                 {"Quartile 3", "A quarter of the scores is higher (linear between neighbours)", true},
                 {"Most", "", true}};
  for (const auto& [by, groups] : all)
    for (const ScoreGroup& group : *groups) {
      const ScoreSummary& s = group.scores;
      out.rows.push_back({by, cut_text(group.name, 60), count_text(s.count),
                          count_text(group.alleles - s.count), six_digits(s.mean), six_digits(s.least),
                          six_digits(s.quartiles[0]), six_digits(s.quartiles[1]), six_digits(s.quartiles[2]),
                          six_digits(s.most)});
    }
  return out;
}

}  // namespace carbon
