#include "src/report/sections/labels.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "src/report/drawing/chart.hpp"
#include "src/report/sections/thresholds.hpp"
#include "src/statistics/curves.hpp"
#include "src/statistics/label.hpp"

namespace carbon {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kClassOpacity = 0.25, kBandOpacity = 0.22;
constexpr std::string_view kPositive = theme::kSeries[1], kNegative = theme::kSeries[0];
constexpr const char* kAreaNames[] = {"AUROC", "AUPRC", "average precision"};

std::string percent(double share) {
  return value_text(100 * share) + " %";
}

// "305 pathogenic alleles"
std::string class_text(uint64_t count, const std::string& name) {
  return count_text(count) + " " + name + (count == 1 ? " allele" : " alleles");
}

// ---- The distribution of both classes

struct Histogram {
  static constexpr size_t kBins = 50;
  Axis axis;
  uint64_t counts[2][kBins] = {}, totals[2] = {0, 0};  // negative, positive; totals are of finite scores
  uint64_t infinite = 0, beyond = 0;                   // beyond the ends of the axis

  double edge(size_t i) const {
    return i == kBins ? axis.most
                      : axis.least +
                            static_cast<double>(i) * ((axis.most - axis.least) / static_cast<double>(kBins));
  }
  double share(int positive, size_t bin) const {
    return static_cast<double>(counts[positive][bin]) /
           static_cast<double>(std::max<uint64_t>(1, totals[positive]));
  }
  // So that no score is silently missing from a picture.
  std::string beyond_words() const {
    std::string out;
    if (infinite > 0) out = plural(infinite, "infinite value") + " cannot be drawn.";
    if (beyond > 0)
      out += (out.empty() ? "" : " ") + plural(beyond, "score") + (beyond == 1 ? " lies" : " lie") +
             " beyond the ends of the axis, far from all others.";
    return out;
  }
};

// A bin begins at its lower edge, which belongs to it; the last one also has its upper edge.
size_t bin_of(const Histogram& histogram, double score) {
  const double wide = (histogram.axis.most - histogram.axis.least) / static_cast<double>(Histogram::kBins);
  auto bin = static_cast<size_t>(
      std::clamp((score - histogram.axis.least) / wide, 0.0, static_cast<double>(Histogram::kBins - 1)));
  if (bin > 0 && score < histogram.edge(bin)) --bin;
  if (bin + 1 < Histogram::kBins && score >= histogram.edge(bin + 1)) ++bin;
  return bin;
}

Histogram histogram_of(const std::string& tag, const LabelledScores& labelled) {
  Histogram out;
  out.axis = value_axis(with_unit(tag, labelled.unit), {labelled.scores.begin(), labelled.scores.end()});
  for (size_t i = 0; i < labelled.scores.size(); ++i) {
    if (!std::isfinite(labelled.scores[i])) {
      ++out.infinite;
      continue;
    }
    const int positive = labelled.positive[i];
    ++out.totals[positive];
    if (labelled.scores[i] < out.axis.least || labelled.scores[i] > out.axis.most)
      ++out.beyond;
    else
      ++out.counts[positive][bin_of(out, labelled.scores[i])];
  }
  return out;
}

// Of finite scores.
double median_of(const LabelledScores& labelled, bool positive) {
  std::vector<double> scores;
  for (size_t i = 0; i < labelled.scores.size(); ++i)
    if (labelled.positive[i] == positive && std::isfinite(labelled.scores[i]))
      scores.push_back(labelled.scores[i]);
  std::sort(scores.begin(), scores.end());
  return quantile(scores, 0.5);
}

Figure class_figure(const std::string& name, const std::string& tag, const std::string& label,
                    const LabelledScores& labelled) {
  const Histogram histogram = histogram_of(tag, labelled);
  const ClassNames& names = labelled.names;
  constexpr const char* of_class = "of the alleles of this class";
  std::vector<ChartColumn> columns = {
      {"From", "lower edge, which belongs to the interval"},
      {"To", "upper edge"},
      {.name = "Alleles: " + names.positive, .about = "number of alleles", .form = ChartColumn::count},
      {"Share: " + names.positive, of_class},
      {.name = "Alleles: " + names.negative, .about = "number of alleles", .form = ChartColumn::count},
      {"Share: " + names.negative, of_class},
      {.form = ChartColumn::hidden},  // both shares in per cent
      {.form = ChartColumn::hidden}};
  double highest = 0;
  for (size_t bin = 0; bin < Histogram::kBins; ++bin) {
    const double shares[] = {histogram.share(1, bin), histogram.share(0, bin)};
    const double row[] = {histogram.edge(bin),
                          histogram.edge(bin + 1),
                          static_cast<double>(histogram.counts[1][bin]),
                          shares[0],
                          static_cast<double>(histogram.counts[0][bin]),
                          shares[1],
                          100 * shares[0],
                          100 * shares[1]};
    for (size_t c = 0; c < columns.size(); ++c) columns[c].numbers.push_back(row[c]);
    highest = std::max({highest, row[6], row[7]});
  }
  const std::string positives = class_text(histogram.totals[1], names.positive);
  const std::string negatives = class_text(histogram.totals[0], names.negative);
  const auto steps = [](const std::string& name, const std::string& legend, std::string_view colour,
                        size_t column) {
    return Series{.mark = Series::steps,
                  .name = name,
                  .legend = legend,
                  .colour = colour,
                  .value = column,
                  .opacity = kClassOpacity,
                  .edge = colour};
  };
  return figure_of({.name = name + "_label_classes",
                    .title = tag + " by label",
                    .width = 640,
                    .height = 340,
                    .x = histogram.axis,
                    .y = round_axis("Share of the alleles of the class (%)", 0, highest),
                    .columns = std::move(columns),
                    .series = {steps(names.positive, positives, kPositive, 6),
                               steps(names.negative, negatives, kNegative, 7)},
                    .what = "Distribution of " + tag + " for " + positives + " and " + negatives +
                            ", by the label " + label + ": the share of a class in each of " +
                            std::to_string(Histogram::kBins) + " intervals of " +
                            value_text(histogram.edge(1) - histogram.edge(0)) + ".",
                    .facts = histogram.beyond_words(),
                    .words = "The median is " + value_text(median_of(labelled, true)) + " for " +
                             names.positive + " alleles and " + value_text(median_of(labelled, false)) +
                             " for " + names.negative + " ones."});
}

// ---- Curves

// What both curves are drawn from.
struct Curves {
  ScoreGroups groups;
  ClassMetrics metrics;
  CurveIntervals intervals;
  std::string score, label;  // what is judged: TAG or minus TAG
  ClassNames names;
  uint64_t samples, seed;
};

// Points that the eye cannot tell apart on the paper are left out: those closer than a third of a pixel to
// the last one, and those in the middle of a level or upright part. Both axes reach from 0 to 1.
class ThinLine {
 public:
  void add(Point point) {
    const bool level = points_.size() > 1 && straight(points_[points_.size() - 2], points_.back(), point);
    if (level)
      points_.back() = point;
    else if (points_.empty() ||
             std::max(std::abs(points_.back().x - point.x), std::abs(points_.back().y - point.y)) > kLeast)
      points_.push_back(point);
    last_ = point;
  }
  std::vector<Point> finish() {
    if (!points_.empty() && (points_.back().x != last_.x || points_.back().y != last_.y))
      points_.push_back(last_);
    return std::move(points_);
  }

 private:
  static constexpr double kLeast = 0.0007;
  static bool straight(const Point& a, const Point& b, const Point& c) {
    return (a.x == b.x && b.x == c.x) || (a.y == b.y && b.y == c.y);
  }
  std::vector<Point> points_;
  Point last_;
};

std::string interval_text(const Curves& curves, size_t area) {
  std::string out = kAreaNames[area] + std::string(" ") + value_text(curves.metrics.values[area]);
  if (curves.intervals.samples == 0) return out;
  return out + " (95 % interval " + value_text(curves.intervals.low[area]) + " to " +
         value_text(curves.intervals.high[area]) + ")";
}

// An area and its interval, as they stand within the figure.
std::vector<std::string> area_lines(const Curves& curves, size_t area) {
  std::vector<std::string> out = {kAreaNames[area] + std::string(" ") +
                                  value_text(curves.metrics.values[area])};
  if (curves.intervals.samples > 0)
    out.push_back("95 % interval " + value_text(curves.intervals.low[area]) + " to " +
                  value_text(curves.intervals.high[area]));
  return out;
}

std::string band_text(const Curves& curves, const std::string& rate) {
  if (curves.samples == 0) return "";
  if (curves.intervals.samples == 0)
    return "There is no band, because each of the " + plural(curves.samples, "bootstrap sample") +
           " has one class alone.";
  std::string out = "The band holds 95 % of " + plural(curves.intervals.samples, "bootstrap sample") +
                    " at each " + rate + " (seed " + std::to_string(curves.seed) + ").";
  if (curves.intervals.joined)
    out += " In these samples neighbouring scores are joined to " + count_text(curves.intervals.groups) +
           " groups, for the band and the intervals; line and areas use each score.";
  return out;
}

double threshold_of(const Curves& curves, size_t groups) {
  return groups == 0 ? NAN : curves.groups.threshold(groups - 1);
}

std::string positives_of(const Curves& curves) {
  return class_text(curves.metrics.positive, curves.names.positive);
}
std::string negatives_of(const Curves& curves) {
  return class_text(curves.metrics.negative, curves.names.negative);
}

// The numbers of a curve at each rate, with its band, and the score that reaches the rate.
struct CurveNumbers {
  Rates values, low, high;
  std::vector<double> thresholds;
  std::string about;  // which threshold a row has
};

// What both curves are alike in. `x` and `y` are the names of the rates without their classes.
Chart curve_chart(const Curves& curves, const std::string& x, const std::string& y,
                  const CurveNumbers& numbers, std::vector<Point> drawn, double chance_from,
                  double chance_to) {
  Chart out;
  out.width = 520, out.height = 500;
  std::vector<double> rates;
  for (size_t k = 0; k < kRates; ++k) rates.push_back(rate_at(k));
  const auto column = [&](const Rates& of, bool known) {
    return known ? std::vector<double>(of.begin(), of.end()) : std::vector<double>(kRates, NAN);
  };
  const bool band = curves.intervals.samples > 0;
  out.columns = {{x, "", rates},
                 {y, "on the line", column(numbers.values, true)},
                 {"Low", "lower end of the band", column(numbers.low, band)},
                 {"High", "upper end of the band", column(numbers.high, band)},
                 {"Threshold", numbers.about, numbers.thresholds}};
  out.series = {{.legend = curves.score, .colour = theme::kLine, .points = std::move(drawn)},
                {.name = curves.score, .value = 1, .drawn = false}};
  if (band)
    out.series.push_back({.mark = Series::band,
                          .legend = "95 % of the samples",
                          .colour = theme::kLine,
                          .value = 3,
                          .low = 2,
                          .opacity = kBandOpacity});
  out.series.push_back({.legend = "chance",
                        .colour = theme::kSoft,
                        .points = {{0, chance_from}, {1, chance_to}},
                        .size = 1,
                        .dashed = true});
  return out;
}

Axis rate_axis(const std::string& rate, const std::string& of) {
  return {rate + " (" + of + ")", 0, 1, false, {}};
}

Figure roc_figure(const std::string& name, const std::string& tag, const Curves& curves,
                  std::vector<Point>& drawn) {
  const std::span<const uint32_t> counts = curves.groups.counts();
  CurveNumbers numbers{true_positive_rates(counts, curves.metrics), curves.intervals.roc_low,
                       curves.intervals.roc_high, std::vector<double>(kRates),
                       tag + " of the last threshold up to this rate"};
  uint64_t tp = 0, fp = 0;
  size_t k = 0;
  ThinLine line;
  line.add({0, 0});
  for (size_t g = 0; g < curves.groups.size(); ++g) {
    tp += counts[2 * g];
    fp += counts[2 * g + 1];
    const Point p = {static_cast<double>(fp) / static_cast<double>(curves.metrics.negative),
                     static_cast<double>(tp) / static_cast<double>(curves.metrics.positive)};
    line.add(p);
    for (; k < kRates && p.x > rate_at(k); ++k) numbers.thresholds[k] = threshold_of(curves, g);
  }
  for (; k < kRates; ++k) numbers.thresholds[k] = threshold_of(curves, curves.groups.size());
  drawn = line.finish();
  Chart out = curve_chart(curves, "False positive rate", "True positive rate", numbers, drawn, 0, 1);
  out.name = name + "_roc";
  out.title = "ROC curve of " + tag;
  out.x = rate_axis("False positive rate", "share of " + negatives_of(curves));
  out.y = rate_axis("True positive rate", "share of " + positives_of(curves));
  out.corner = area_lines(curves, 0);
  out.what = "Receiver operating characteristic of " + curves.score + " for the label " + curves.label +
             ", over all thresholds: " + positives_of(curves) + " and " + negatives_of(curves) + ". " +
             interval_text(curves, 0) + ".";
  out.how = band_text(curves, "false positive rate");
  out.words = "At a false positive rate of 5 % the true positive rate is " + percent(numbers.values[5]) +
              ", at 10 % it is " + percent(numbers.values[10]) + ".";
  return figure_of(out);
}

Figure precision_figure(const std::string& name, const std::string& tag, const Curves& curves) {
  const double share = static_cast<double>(curves.metrics.positive) /
                       static_cast<double>(curves.metrics.positive + curves.metrics.negative);
  const std::span<const uint32_t> counts = curves.groups.counts();
  CurveNumbers numbers{precisions(counts, curves.metrics), curves.intervals.precision_low,
                       curves.intervals.precision_high, std::vector<double>(kRates, NAN),
                       tag + " of the first threshold with this recall"};
  uint64_t tp = 0, found = 0;
  size_t k = 1;  // no threshold has recall 0
  ThinLine line;
  line.add({0, 1});
  for (size_t g = 0; g < curves.groups.size(); ++g) {
    tp += counts[2 * g];
    found += counts[2 * g] + counts[2 * g + 1];
    const Point p = {static_cast<double>(tp) / static_cast<double>(curves.metrics.positive),
                     static_cast<double>(tp) / static_cast<double>(found)};
    line.add(p);
    for (; k < kRates && p.x >= rate_at(k); ++k) numbers.thresholds[k] = threshold_of(curves, g + 1);
  }
  Chart out = curve_chart(curves, "Recall", "Precision", numbers, line.finish(), share, share);
  out.name = name + "_precision_recall";
  out.title = "Precision and recall of " + tag;
  out.x = rate_axis("Recall", "share of " + positives_of(curves));
  out.y = rate_axis("Precision", "share of " + curves.names.positive + " alleles among those found");
  out.series.back().legend = "share of " + curves.names.positive + " alleles, " + percent(share);
  out.corner = area_lines(curves, 2);
  out.corner_side = Anchor::start;
  out.what = "Precision against recall of " + curves.score + " for the label " + curves.label +
             ", over all thresholds: " + positives_of(curves) + " and " + negatives_of(curves) + ". " +
             interval_text(curves, 1) + ", " + interval_text(curves, 2) + ".";
  out.how = band_text(curves, "recall");
  out.words = "At a recall of 50 % the precision is " + percent(numbers.values[50]) + ", at 90 % it is " +
              percent(numbers.values[90]) + "; the share of " + curves.names.positive + " alleles is " +
              percent(share) + ".";
  return figure_of(out);
}

// As +auroc lists them.
Table area_table(const Curves& curves, const LabelledScores& labelled) {
  Table out;
  out.title = "How well " + curves.score + " separates the label " + curves.label;
  out.columns = {{"Measure", ""},
                 {"Value", "", true},
                 {"Low", "lower end of the 95 % bootstrap interval", true},
                 {"High", "upper end of the 95 % bootstrap interval", true}};
  constexpr const char* names[] = {"AUROC", "AUPRC (trapezoidal)", "Average precision"};
  for (size_t m = 0; m < 3; ++m)
    out.rows.push_back({names[m], six_digits(curves.metrics.values[m]), six_digits(curves.intervals.low[m]),
                        six_digits(curves.intervals.high[m])});
  const std::pair<std::string, uint64_t> counts[] = {
      {"Alleles: " + curves.names.positive, curves.metrics.positive},
      {"Alleles: " + curves.names.negative, curves.metrics.negative},
      {"Alleles without score", labelled.missing_score},
      {"Alleles without label", labelled.missing_label},
      {"Alleles with a label of neither class", labelled.other_label}};
  for (const auto& [what, count] : counts) out.rows.push_back({what, std::to_string(count), ".", "."});
  return out;
}

std::string why_no_curves(const std::string& tag, const std::string& label, const LabelledScores& labelled) {
  const std::string without = " (" + count_text(labelled.missing_score) + " lack the score, " +
                              count_text(labelled.missing_label) + " the label, and " +
                              count_text(labelled.other_label) + " have a label of neither class)";
  if (labelled.scores.empty())
    return "No allele has both " + tag + " and a class by the label " + label + without +
           ", so there are no curves.";
  return "By the label " + label + ", " +
         (labelled.scores.size() == 1 ? "the only allele"
                                      : "all " + plural(labelled.scores.size(), "allele")) +
         " with " + tag + " and a class " + (labelled.scores.size() == 1 ? "is " : "are ") +
         (labelled.positive[0] ? labelled.names.positive : labelled.names.negative) + without +
         ", so there are no curves of " + tag + ": they need both classes.";
}

}  // namespace

std::optional<RocCurve> add_label_figures(const std::string& name, const std::string& tag,
                                          const LabelledScores& labelled, const ReportOptions& options,
                                          Section& section) {
  const bool negate = labelled.low || (options.negate && !labelled.high);
  Curves curves{ScoreGroups(labelled.scores, labelled.positive, negate),
                {},
                {},
                (negate ? "minus " : "") + tag,
                options.label,
                labelled.names,
                options.bootstrap,
                options.seed};
  curves.metrics = class_metrics(curves.groups.counts());
  if (!curves.metrics.defined()) {
    section.paragraphs.push_back(why_no_curves(tag, options.label, labelled));
    return std::nullopt;
  }
  if (const double auroc = curves.metrics.values[0]; auroc < 0.5) {
    const auto words = [&](const char* article) {
      return reversed_words(tag, six_digits(auroc), negate, labelled.low || labelled.high, article);
    };
    options.log->warning("report", words("the"));
    section.paragraphs.push_back(words("The"));
  }
  curves.intervals = CurveBootstrap::intervals(curves.groups, options.bootstrap, options.seed, kConfidence);
  RocCurve roc{curves.score,
               {},
               true_positive_rates(curves.groups.counts(), curves.metrics),
               curves.metrics.values[0],
               curves.intervals.low[0],
               curves.intervals.high[0],
               curves.intervals.samples > 0,
               curves.metrics.positive,
               curves.metrics.negative,
               labelled.names};
  section.parts.push_back(class_figure(name, tag, options.label, labelled));
  section.parts.push_back(roc_figure(name, tag, curves, roc.line));
  section.parts.push_back(threshold_table(curves.groups, tag, labelled.names, negate));
  section.parts.push_back(precision_figure(name, tag, curves));
  section.parts.push_back(area_table(curves, labelled));
  return roc;
}

}  // namespace carbon
