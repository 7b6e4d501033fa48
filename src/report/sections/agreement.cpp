#include "src/report/sections/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/drawing/theme.hpp"
#include "src/statistics/agreement.hpp"

namespace carbon {
namespace {

constexpr size_t kFine = 80, kCoarse = 20;
// A legend keeps views of its colours, so they live as long as the program: from the palest to the darkest.
constexpr std::string_view kLevels[] = {"#cfe3f5", "#a9cde9", "#84b9e3", "#5a99d0",
                                        "#2f78bd", "#1d5a98", "#0c3c74", "#051f40"};

size_t level_of(uint32_t count) {
  size_t level = 0;
  for (; count >= 10; count /= 10) ++level;
  return std::min(level, std::size(kLevels) - 1);
}

// The levels that are used spread over all colours.
std::string_view colour_of(size_t level, size_t levels) {
  if (levels == 1) return kLevels[4];
  return kLevels[level * (std::size(kLevels) - 1) / (levels - 1)];
}

size_t cell_of(const Axis& axis, size_t side, double value) {
  const double at = (value - axis.least) / (axis.most - axis.least) * static_cast<double>(side);
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(side - 1)));
}

constexpr double kLimit = 1.96;  // standard deviations: 95 % of a normal distribution lie within them

// The differences B - A.
struct Differences {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

struct Range {
  double least = 0, most = 0;
  void add(double value, bool first) {
    least = first ? value : std::min(least, value);
    most = first ? value : std::max(most, value);
  }
};

template <class Pairs>
Differences differences_of(const Pairs& pairs) {
  Differences out;
  const auto count = static_cast<double>(pairs.size());
  // Corrected once by the mean of the distances from it, in which rounding hardly counts.
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    for (const auto& pair : pairs) sum += pair.b - pair.a - out.mean;
    out.mean += sum / count;
  }
  double squares = 0;
  for (const auto& pair : pairs) squares += (pair.b - pair.a - out.mean) * (pair.b - pair.a - out.mean);
  out.deviation = std::sqrt(squares / (count - 1));
  out.low = out.mean - kLimit * out.deviation;
  out.high = out.mean + kLimit * out.deviation;
  return out;
}

// What stands beside the pointer: the allele and both scores.
template <class Pairs>
std::vector<FigurePoint> tips(const Plot& plot, const Pairs& pairs, const std::vector<std::string>& names,
                              const std::string& tag_a, const std::string& tag_b,
                              const std::function<Point(size_t)>& point) {
  std::vector<FigurePoint> out;
  if (names.size() != pairs.size()) return out;
  for (size_t i = 0; i < pairs.size(); ++i)
    out.push_back({plot.x(point(i).x), plot.y(point(i).y),
                   names[i] + "\n" + tag_a + ": " + value_text(pairs[i].a) + "\n" + tag_b + ": " +
                       value_text(pairs[i].b)});
  return out;
}

template <class Pairs>
Figure scatter_figure(const std::string& name, const std::string& tag_a, const std::string& tag_b,
                      const std::string& unit, const Pairs& pairs, const Agreement& found,
                      const std::vector<std::string>& names) {
  Range range;
  for (size_t i = 0; i < pairs.size(); ++i) {
    range.add(pairs[i].a, i == 0);
    range.add(pairs[i].b, false);
  }
  Figure out;
  out.name = name + "_scatter";
  out.title = tag_b + " against " + tag_a;
  const Axis x = round_axis(with_unit(tag_a, unit), range.least, range.most),
             y = round_axis(with_unit(tag_b, unit), range.least, range.most);
  const auto point = [&](size_t i) { return Point{pairs[i].a, pairs[i].b}; };
  const PairCloud cloud(pairs.size(), point, x, y);
  Plot plot(out.title, 540, 520, x, y);
  std::vector<LegendEntry> legend = cloud.legend();
  legend.push_back({"equal scores", theme::kSoft, LegendEntry::dashes});
  plot.legend(legend);
  cloud.draw(plot);
  plot.line(std::vector<Point>{{x.least, x.least}, {x.most, x.most}}, theme::kSoft, 1, true);
  out.svg = plot.picture();
  out.points = tips(plot, pairs, names, tag_a, tag_b, point);
  const std::string correlations =
      std::isnan(found.pearson) ? "One of the scores is the same for all alleles, so there is no correlation."
                                : "Pearson correlation " + value_text(found.pearson) +
                                      ", Spearman rank correlation " + value_text(found.spearman) + ".";
  out.caption = tag_b + " (upwards) against " + tag_a + " (to the right) of " + count_text(pairs.size()) +
                " alleles that have both. " + cloud.about() + " On the dashed line both are equal. " +
                correlations;
  out.words = correlations + " The mean distance between the two is " + value_text(found.mean_difference) +
              ", the largest " + value_text(found.largest_difference) + ".";
  out.numbers = cloud.numbers(tag_a, tag_b);
  out.multiqc = cloud.multiqc(out.name, out.title);
  return out;
}

// A level line across the frame with its value, above or below the line.
void level(Plot& plot, const Axis& x, double value, const std::string& words, bool dashed, double down) {
  plot.line(std::vector<Point>{{x.least, value}, {x.most, value}}, theme::kMark, 1.5, dashed);
  plot.note(dashed ? x.most : x.least, value, dashed ? -4 : 4, down, words + " " + value_text(value),
            {.colour = theme::kInk, .anchor = dashed ? Anchor::end : Anchor::start});
}

template <class Pairs>
Figure bland_altman_figure(const std::string& name, const std::string& tag_a, const std::string& tag_b,
                           const std::string& unit, const Pairs& pairs, const Differences& found,
                           const std::vector<std::string>& names) {
  Range means, differences;
  for (size_t i = 0; i < pairs.size(); ++i) {
    means.add(pairs[i].a / 2 + pairs[i].b / 2, i == 0);
    differences.add(pairs[i].b - pairs[i].a, i == 0);
  }
  differences.add(found.low, false);
  differences.add(found.high, false);
  const double room = 0.08 * (differences.most - differences.least);  // for the words of the lines
  Figure out;
  out.name = name + "_bland_altman";
  out.title = "Bland\u2013Altman plot of " + tag_a + " and " + tag_b;
  const Axis x = round_axis(with_unit("Mean of " + tag_a + " and " + tag_b, unit), means.least, means.most);
  const Axis y = round_axis(with_unit(tag_b + " \u2212 " + tag_a, unit), differences.least - room,
                            differences.most + room);
  const auto point = [&](size_t i) {
    return Point{pairs[i].a / 2 + pairs[i].b / 2, pairs[i].b - pairs[i].a};
  };
  const PairCloud cloud(pairs.size(), point, x, y);
  Plot plot(out.title, 640, 420, x, y);
  std::vector<LegendEntry> legend = cloud.legend();
  legend.push_back({"mean difference", theme::kMark, LegendEntry::line});
  legend.push_back({"limits of agreement", theme::kMark, LegendEntry::dashes});
  plot.legend(legend);
  cloud.draw(plot);
  level(plot, x, found.mean, "mean", false, -4);
  level(plot, x, found.high, "+1.96 SD", true, -4);
  level(plot, x, found.low, "\u22121.96 SD", true, 13);
  out.svg = plot.picture();
  out.points = tips(plot, pairs, names, tag_a, tag_b, point);
  out.caption = "Difference " + tag_b + " \u2212 " + tag_a +
                " (upwards) against the mean of the two (to the right) of " + count_text(pairs.size()) +
                " alleles. " + cloud.about() + " The mean difference is " + value_text(found.mean) +
                ", its standard deviation " + value_text(found.deviation) +
                "; the limits of agreement, mean \u00b1 1.96 standard deviations, are " +
                value_text(found.low) + " and " + value_text(found.high) + ".";
  uint64_t within = 0;
  for (const auto& pair : pairs) within += pair.b - pair.a >= found.low && pair.b - pair.a <= found.high;
  out.words = value_text(100 * static_cast<double>(within) / static_cast<double>(pairs.size())) +
              " % of the alleles lie within the limits of agreement.";
  out.numbers = cloud.numbers("Mean", "Difference");
  out.multiqc = cloud.multiqc(out.name, out.title);
  return out;
}

Table measure_table(const std::string& tag_a, const std::string& tag_b, size_t count, const Agreement& found,
                    const Differences& differences) {
  Table out;
  out.title = "Agreement of " + tag_a + " and " + tag_b;
  out.columns = {{"Measure"}, {"Value", "", true}};
  out.rows = {{"Alleles with both scores", std::to_string(count)},
              {"Pearson correlation", six_digits(found.pearson)},
              {"Spearman rank correlation", six_digits(found.spearman)},
              {"Mean difference " + tag_b + " \u2212 " + tag_a, six_digits(differences.mean)},
              {"Standard deviation of the difference", six_digits(differences.deviation)},
              {"Lower limit of agreement", six_digits(differences.low)},
              {"Upper limit of agreement", six_digits(differences.high)},
              {"Mean difference without sign", six_digits(found.mean_difference)},
              {"Largest difference without sign", six_digits(found.largest_difference)},
              {"Overlap of the lowest 1 %", six_digits(found.overlap_1)},
              {"Overlap of the lowest 5 %", six_digits(found.overlap_5)}};
  return out;
}

}  // namespace

PairCloud::PairCloud(size_t count, std::function<Point(size_t)> point, const Axis& x, const Axis& y)
    : count_(count), point_(std::move(point)), x_(x), y_(y) {
  if (dots()) return;
  fine_ = cells(kFine);
  levels_ = level_of(*std::max_element(fine_.counts.begin(), fine_.counts.end())) + 1;
}

PairCloud::Cells PairCloud::cells(size_t side) const {
  Cells out{side, std::vector<uint32_t>(side * side)};
  for (size_t i = 0; i < count_; ++i) {
    const Point p = point_(i);
    ++out.counts[cell_of(y_, side, p.y) * side + cell_of(x_, side, p.x)];
  }
  return out;
}

double PairCloud::edge(const Axis& axis, size_t side, size_t i) const {
  return axis.least + (axis.most - axis.least) * static_cast<double>(i) / static_cast<double>(side);
}

std::vector<LegendEntry> PairCloud::legend() const {
  std::vector<LegendEntry> out;
  uint64_t from = 1;
  for (size_t level = 0; level < levels_; ++level, from *= 10) {
    const bool last = level + 1 == std::size(kLevels);
    out.push_back({count_text(from) + (last ? " or more" : "\u2013" + count_text(10 * from - 1)),
                   colour_of(level, levels_)});
  }
  if (!out.empty()) out.front().name += " alleles";
  return out;
}

void PairCloud::draw(Plot& plot) const {
  if (dots()) {
    std::vector<Point> points(count_);
    for (size_t i = 0; i < count_; ++i) points[i] = point_(i);
    plot.dots(points, theme::kLine, count_ > 1000 ? 1.5 : 2.2, count_ > 1000 ? 0.5 : 0.6);
    return;
  }
  // One element for each colour, and one box for neighbours that have the same.
  std::vector<std::string> paths(levels_);
  for (size_t row = 0; row < kFine; ++row)
    for (size_t begin = 0; begin < kFine;) {
      const uint32_t* counts = &fine_.counts[row * kFine];
      size_t end = begin + 1;
      if (counts[begin] > 0) {
        const size_t level = level_of(counts[begin]);
        while (end < kFine && counts[end] > 0 && level_of(counts[end]) == level) ++end;
        const double left = plot.x(edge(x_, kFine, begin)), top = plot.y(edge(y_, kFine, row + 1));
        paths[level] +=
            box_path(left, top, plot.x(edge(x_, kFine, end)) - left, plot.y(edge(y_, kFine, row)) - top);
      }
      begin = end;
    }
  for (size_t level = 0; level < levels_; ++level)
    if (!paths[level].empty()) plot.marks().path(paths[level], colour_of(level, levels_));
}

std::string PairCloud::about() const {
  return dots() ? "A dot is an allele." : "The colour of a square says how many alleles it holds.";
}

Table PairCloud::numbers(const std::string& x_name, const std::string& y_name) const {
  Table out;
  if (count_ <= kMostRows) {
    out.columns = {{x_name, "", true}, {y_name, "", true}};
    for (size_t i = 0; i < count_; ++i)
      out.rows.push_back({six_digits(point_(i).x), six_digits(point_(i).y)});
    return out;
  }
  out.columns = {{x_name + " from", "", true},
                 {x_name + " to", "", true},
                 {y_name + " from", "", true},
                 {y_name + " to", "", true},
                 {"Alleles", "in a grid coarser than that of the picture", true}};
  const Cells coarse = cells(kCoarse);
  for (size_t row = 0; row < kCoarse; ++row)
    for (size_t column = 0; column < kCoarse; ++column)
      if (const uint32_t count = coarse.counts[row * kCoarse + column])
        out.rows.push_back({six_digits(edge(x_, kCoarse, column)), six_digits(edge(x_, kCoarse, column + 1)),
                            six_digits(edge(y_, kCoarse, row)), six_digits(edge(y_, kCoarse, row + 1)),
                            std::to_string(count)});
  return out;
}

std::string PairCloud::multiqc(const std::string& id, const std::string& title) const {
  nlohmann::ordered_json out =
      multiqc_plot(dots() ? "scatter" : "heatmap", id, "carbon: " + title, x_.label, y_.label);
  nlohmann::ordered_json& data = out["data"];
  if (dots()) {
    for (size_t i = 0; i < count_; ++i)
      data["allele " + std::to_string(i + 1)] = {{"x", point_(i).x}, {"y", point_(i).y}};
  } else {
    out["pconfig"].update({{"zlab", "alleles"}, {"square", false}, {"display_values", false}});
    const Cells coarse = cells(kCoarse);
    for (size_t row = kCoarse; row-- > 0;) {
      nlohmann::ordered_json line = nlohmann::ordered_json::object();
      for (size_t column = 0; column < kCoarse; ++column)
        line[six_digits(edge(x_, kCoarse, column))] = coarse.counts[row * kCoarse + column];
      data[six_digits(edge(y_, kCoarse, row))] = std::move(line);
    }
  }
  return json_text(out);
}

void AgreementFigures::add(double a, double b, const std::string& name) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    ++infinite_;
    return;
  }
  pairs_.push_back({a, b});
  if (!name.empty() && pairs_.size() <= PairCloud::kMostDots)
    names_.push_back(name);
  else
    names_.clear();
}

void AgreementFigures::finish(const std::string& name, const std::string& tag_a, const std::string& tag_b,
                              Section& section, const std::string& unit) {
  if (infinite_ > 0)
    section.paragraphs.push_back(count_text(infinite_) + (infinite_ == 1 ? " allele has" : " alleles have") +
                                 " an infinite value of " + tag_a + " or " + tag_b +
                                 ", and the comparison of the two leaves " +
                                 (infinite_ == 1 ? "it" : "them") + " out.");
  if (pairs_.size() < 2) {
    section.paragraphs.push_back(std::string(pairs_.empty() ? "No allele has" : "Only one allele has") +
                                 " both " + tag_a + " and " + tag_b + ", too few to compare the two.");
    return;
  }
  const Agreement found = agreement(pairs_);
  const Differences differences = differences_of(pairs_);
  section.parts.push_back(scatter_figure(name, tag_a, tag_b, unit, pairs_, found, names_));
  section.parts.push_back(bland_altman_figure(name, tag_a, tag_b, unit, pairs_, differences, names_));
  section.parts.push_back(measure_table(tag_a, tag_b, pairs_.size(), found, differences));
  pairs_ = {};
  names_ = {};
}

}  // namespace carbon
