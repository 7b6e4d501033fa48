#include "src/report/sections/agreement.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/numbers.hpp"
#include "src/report/drawing/theme.hpp"
#include "src/report/sections/pair_cloud.hpp"
#include "src/statistics/agreement.hpp"

namespace carbon {
namespace {

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

std::string six_digits(double value) {
  if (std::isnan(value)) return ".";
  std::string digits;
  append_general(value, 6, digits);
  return digits;
}

template <class Pairs>
Figure scatter_figure(const std::string& name, const std::string& tag_a, const std::string& tag_b,
                      const Pairs& pairs, const Agreement& found) {
  Range range;
  for (size_t i = 0; i < pairs.size(); ++i) {
    range.add(pairs[i].a, i == 0);
    range.add(pairs[i].b, false);
  }
  Figure out;
  out.name = name + "_scatter";
  out.title = tag_b + " against " + tag_a;
  const Axis x = round_axis(tag_a, range.least, range.most), y = round_axis(tag_b, range.least, range.most);
  const PairCloud cloud(
      pairs.size(),
      [&](size_t i) {
        return Point{pairs[i].a, pairs[i].b};
      },
      x, y);
  Plot plot(out.title, 540, 520, x, y);
  std::vector<LegendEntry> legend = cloud.legend();
  legend.push_back({"equal scores", theme::kSoft, LegendEntry::dashes});
  plot.legend(legend);
  cloud.draw(plot);
  plot.line(std::vector<Point>{{x.least, x.least}, {x.most, x.most}}, theme::kSoft, 1, true);
  out.svg = plot.picture();
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
                           const Pairs& pairs, const Differences& found) {
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
  const Axis x = round_axis("Mean of " + tag_a + " and " + tag_b, means.least, means.most);
  const Axis y = round_axis(tag_b + " \u2212 " + tag_a, differences.least - room, differences.most + room);
  const PairCloud cloud(
      pairs.size(),
      [&](size_t i) {
        return Point{pairs[i].a / 2 + pairs[i].b / 2, pairs[i].b - pairs[i].a};
      },
      x, y);
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

void AgreementFigures::add(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b))
    ++infinite_;
  else
    pairs_.push_back({a, b});
}

void AgreementFigures::finish(const std::string& name, const std::string& tag_a, const std::string& tag_b,
                              Section& section) {
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
  section.parts.push_back(scatter_figure(name, tag_a, tag_b, pairs_, found));
  section.parts.push_back(bland_altman_figure(name, tag_a, tag_b, pairs_, differences));
  section.parts.push_back(measure_table(tag_a, tag_b, pairs_.size(), found, differences));
  pairs_ = {};
}

}  // namespace carbon
