#include "src/report/sections/labels.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
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

}  // namespace

// The numbers of a lined picture, {"name": [[x, y], ...]}, as MultiQC reads them. Names of values would be
// sorted as text. Of several values at one x, as a steep curve has them, MultiQC draws the last.
std::string line_graph(const std::string& id, const std::string& title, const std::string& x,
                       const std::string& y,
                       const std::vector<std::pair<std::string, std::vector<Point>>>& lines, double most) {
  nlohmann::ordered_json out = multiqc_plot("linegraph", id, "carbon: " + title, x, y);
  out["pconfig"]["ymin"] = 0;
  if (most > 0) out["pconfig"]["ymax"] = most;
  for (const auto& [line, points] : lines) {
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const Point& p : points) values.push_back({p.x, p.y});
    out["data"][line] = std::move(values);
  }
  return json_text(out);
}

namespace {

// ---- The distribution of both classes

struct Histogram {
  static constexpr size_t kBins = 50;
  Axis axis;
  uint64_t counts[2][kBins] = {}, totals[2] = {0, 0};  // negative, positive; finite scores alone
  uint64_t infinite = 0;

  double edge(size_t i) const {
    return i == kBins ? axis.most
                      : axis.least +
                            static_cast<double>(i) * ((axis.most - axis.least) / static_cast<double>(kBins));
  }
  double share(int positive, size_t bin) const {
    return static_cast<double>(counts[positive][bin]) /
           static_cast<double>(std::max<uint64_t>(1, totals[positive]));
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
  double least = 0, most = 0;
  bool any = false;
  for (const float score : labelled.scores) {
    if (!std::isfinite(score)) continue;
    least = any ? std::min<double>(least, score) : score;
    most = any ? std::max<double>(most, score) : score;
    any = true;
  }
  out.axis = round_axis(with_unit(tag, labelled.unit), least, most);
  for (size_t i = 0; i < labelled.scores.size(); ++i) {
    if (!std::isfinite(labelled.scores[i])) {
      ++out.infinite;
      continue;
    }
    const int positive = labelled.positive[i];
    ++out.counts[positive][bin_of(out, labelled.scores[i])];
    ++out.totals[positive];
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

// The outline of a class, and the ground below it.
void draw_class(Plot& plot, const Histogram& histogram, int positive, std::string_view colour) {
  std::vector<Point> line, ground;
  for (size_t bin = 0; bin < Histogram::kBins; ++bin)
    for (const double x : {histogram.edge(bin), histogram.edge(bin + 1)}) {
      line.push_back({x, 100 * histogram.share(positive, bin)});
      ground.push_back({x, 0});
    }
  plot.band(ground, line, colour, kClassOpacity);
  plot.line(line, colour, 1.5);
}

Figure class_figure(const std::string& name, const std::string& tag, const std::string& label,
                    const LabelledScores& labelled) {
  const Histogram histogram = histogram_of(tag, labelled);
  double highest = 0;
  for (size_t bin = 0; bin < Histogram::kBins; ++bin)
    for (const int positive : {0, 1}) highest = std::max(highest, histogram.share(positive, bin));
  Figure out;
  out.name = name + "_label_classes";
  out.title = tag + " by label";
  const ClassNames& names = labelled.names;
  const std::string positives = class_text(histogram.totals[1], names.positive);
  const std::string negatives = class_text(histogram.totals[0], names.negative);
  Axis y = round_axis("Share of the alleles of the class (%)", 0, 100 * highest);
  Plot plot(out.title, 640, 340, histogram.axis, y);
  plot.legend(std::vector<LegendEntry>{
      {.name = positives, .colour = kPositive, .opacity = kClassOpacity, .edge = kPositive},
      {.name = negatives, .colour = kNegative, .opacity = kClassOpacity, .edge = kNegative}});
  draw_class(plot, histogram, 0, kNegative);
  draw_class(plot, histogram, 1, kPositive);
  out.svg = plot.picture();
  out.caption = "Distribution of " + tag + " for " + positives + " and " + negatives + ", by the label " +
                label + ": the share of a class in each of " + std::to_string(Histogram::kBins) +
                " intervals of " + value_text(histogram.edge(1) - histogram.edge(0)) + ".";
  if (histogram.infinite > 0)
    out.caption += " " + plural(histogram.infinite, "infinite value") + " cannot be drawn.";
  out.words = "The median is " + value_text(median_of(labelled, true)) + " for " + names.positive +
              " alleles and " + value_text(median_of(labelled, false)) + " for " + names.negative + " ones.";
  out.numbers.columns = {{"From", "lower edge, which belongs to the interval", true},
                         {"To", "upper edge", true},
                         {"Alleles: " + names.positive, "number of alleles", true},
                         {"Share: " + names.positive, "of the alleles of this class", true},
                         {"Alleles: " + names.negative, "number of alleles", true},
                         {"Share: " + names.negative, "of the alleles of this class", true}};
  std::vector<Point> lines[2];
  for (size_t bin = 0; bin < Histogram::kBins; ++bin) {
    out.numbers.rows.push_back({six_digits(histogram.edge(bin)), six_digits(histogram.edge(bin + 1)),
                                std::to_string(histogram.counts[1][bin]), six_digits(histogram.share(1, bin)),
                                std::to_string(histogram.counts[0][bin]),
                                six_digits(histogram.share(0, bin))});
    for (const int positive : {0, 1})
      lines[positive].push_back(
          {(histogram.edge(bin) + histogram.edge(bin + 1)) / 2, 100 * histogram.share(positive, bin)});
  }
  out.multiqc = line_graph(out.name, out.title, histogram.axis.label, y.label,
                           {{names.positive, lines[1]}, {names.negative, lines[0]}}, 0);
  return out;
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

// Points that the eye cannot tell apart on the paper are left out: those within a third of a pixel of the
// last one, and those in the middle of a level or upright part.
class ThinLine {
 public:
  explicit ThinLine(const Plot& plot) : plot_(plot) {}
  void add(Point point) {
    const bool level = points_.size() > 1 && straight(points_[points_.size() - 2], points_.back(), point);
    if (level)
      points_.back() = point;
    else if (points_.empty() || far(points_.back(), point))
      points_.push_back(point);
    last_ = point;
  }
  std::vector<Point> finish() {
    if (!points_.empty() && (points_.back().x != last_.x || points_.back().y != last_.y))
      points_.push_back(last_);
    return std::move(points_);
  }

 private:
  static bool straight(const Point& a, const Point& b, const Point& c) {
    return (a.x == b.x && b.x == c.x) || (a.y == b.y && b.y == c.y);
  }
  bool far(const Point& a, const Point& b) const {
    return std::abs(plot_.x(a.x) - plot_.x(b.x)) > 0.33 || std::abs(plot_.y(a.y) - plot_.y(b.y)) > 0.33;
  }
  const Plot& plot_;
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
    return " There is no band, because each of the " + plural(curves.samples, "bootstrap sample") +
           " has one class alone.";
  std::string out = " The band holds 95 % of " + plural(curves.intervals.samples, "bootstrap sample") +
                    " at each " + rate + " (seed " + std::to_string(curves.seed) + ").";
  if (curves.intervals.joined)
    out += " In these samples neighbouring scores are joined to " + count_text(curves.intervals.groups) +
           " groups, for the band and the intervals; line and areas use each score.";
  return out;
}

std::vector<Point> along(const Rates& rates) {
  std::vector<Point> out;
  for (size_t k = 0; k < kRates; ++k) out.push_back({rate_at(k), rates[k]});
  return out;
}

std::vector<LegendEntry> curve_legend(const Curves& curves, const std::string& reference) {
  std::vector<LegendEntry> out = {{curves.score, theme::kLine, LegendEntry::line}};
  if (curves.intervals.samples > 0)
    out.push_back({.name = "95 % of the samples", .colour = theme::kLine, .opacity = kBandOpacity});
  out.push_back({reference, theme::kSoft, LegendEntry::dashes});
  return out;
}

// Rows of a rate, the value on the line, the ends of its band, and the score that reaches the rate.
// A curve at every rate. `threshold` says which threshold a row has.
void add_curve(Table& table, const std::string& rate, const std::string& value, const std::string& threshold,
               const Curves& curves, const Rates& values, const Rates& low, const Rates& high,
               const std::vector<std::string>& thresholds) {
  table.columns = {{rate, "", true},
                   {value, "on the line", true},
                   {"Low", "lower end of the band", true},
                   {"High", "upper end of the band", true},
                   {"Threshold", threshold, true}};
  const bool band = curves.intervals.samples > 0;
  for (size_t k = 0; k < kRates; ++k)
    table.rows.push_back({six_digits(rate_at(k)), six_digits(values[k]), band ? six_digits(low[k]) : ".",
                          band ? six_digits(high[k]) : ".", thresholds[k]});
}

std::string threshold_text(const Curves& curves, size_t groups) {
  return groups == 0 ? "." : six_digits(curves.groups.threshold(groups - 1));
}

Figure roc_figure(const std::string& name, const std::string& tag, const Curves& curves,
                  std::vector<Point>& drawn) {
  Figure out;
  out.name = name + "_roc";
  out.title = "ROC curve of " + tag;
  const std::string positives = class_text(curves.metrics.positive, curves.names.positive),
                    negatives = class_text(curves.metrics.negative, curves.names.negative);
  Plot plot(out.title, 520, 500, {"False positive rate (share of " + negatives + ")", 0, 1, false, {}},
            {"True positive rate (share of " + positives + ")", 0, 1, false, {}});
  plot.legend(curve_legend(curves, "chance"));
  if (curves.intervals.samples > 0)
    plot.band(along(curves.intervals.roc_low), along(curves.intervals.roc_high), theme::kLine, kBandOpacity);
  const std::vector<Point> chance = {{0, 0}, {1, 1}};
  plot.line(chance, theme::kSoft, 1, true);

  const std::span<const uint32_t> counts = curves.groups.counts();
  std::vector<std::string> thresholds(kRates);
  uint64_t tp = 0, fp = 0;
  size_t k = 0;
  ThinLine line(plot);
  line.add({0, 0});
  for (size_t g = 0; g < curves.groups.size(); ++g) {
    tp += counts[2 * g];
    fp += counts[2 * g + 1];
    const Point p = {static_cast<double>(fp) / static_cast<double>(curves.metrics.negative),
                     static_cast<double>(tp) / static_cast<double>(curves.metrics.positive)};
    line.add(p);
    for (; k < kRates && p.x > rate_at(k); ++k) thresholds[k] = threshold_text(curves, g);
  }
  for (; k < kRates; ++k) thresholds[k] = threshold_text(curves, curves.groups.size());
  drawn = line.finish();
  plot.line(drawn, theme::kLine, 2);
  plot.corner_note(area_lines(curves, 0), Anchor::end);
  out.svg = plot.picture();

  const Rates rates = true_positive_rates(counts, curves.metrics);
  out.caption = "Receiver operating characteristic of " + curves.score + " for the label " + curves.label +
                ", over all thresholds: " + positives + " and " + negatives + ". " +
                interval_text(curves, 0) + "." + band_text(curves, "false positive rate");
  out.words = "At a false positive rate of 5 % the true positive rate is " + percent(rates[5]) +
              ", at 10 % it is " + percent(rates[10]) + ".";
  add_curve(out.numbers, "False positive rate", "True positive rate",
            tag + " of the last threshold up to this rate", curves, rates, curves.intervals.roc_low,
            curves.intervals.roc_high, thresholds);
  out.multiqc = line_graph(out.name, out.title, "False positive rate", "True positive rate",
                           {{curves.score, along(rates)}}, 1);
  return out;
}

Figure precision_figure(const std::string& name, const std::string& tag, const Curves& curves) {
  Figure out;
  out.name = name + "_precision_recall";
  out.title = "Precision and recall of " + tag;
  const std::string positives = class_text(curves.metrics.positive, curves.names.positive),
                    negatives = class_text(curves.metrics.negative, curves.names.negative);
  const double share = static_cast<double>(curves.metrics.positive) /
                       static_cast<double>(curves.metrics.positive + curves.metrics.negative);
  Plot plot(
      out.title, 520, 500, {"Recall (share of " + positives + ")", 0, 1, false, {}},
      {"Precision (share of " + curves.names.positive + " alleles among those found)", 0, 1, false, {}});
  plot.legend(curve_legend(curves, "share of " + curves.names.positive + " alleles, " + percent(share)));
  if (curves.intervals.samples > 0)
    plot.band(along(curves.intervals.precision_low), along(curves.intervals.precision_high), theme::kLine,
              kBandOpacity);
  const std::vector<Point> chance = {{0, share}, {1, share}};
  plot.line(chance, theme::kSoft, 1, true);

  const std::span<const uint32_t> counts = curves.groups.counts();
  std::vector<std::string> thresholds(kRates, ".");
  uint64_t tp = 0, found = 0;
  size_t k = 1;  // no threshold has recall 0
  ThinLine line(plot);
  line.add({0, 1});
  for (size_t g = 0; g < curves.groups.size(); ++g) {
    tp += counts[2 * g];
    found += counts[2 * g] + counts[2 * g + 1];
    const Point p = {static_cast<double>(tp) / static_cast<double>(curves.metrics.positive),
                     static_cast<double>(tp) / static_cast<double>(found)};
    line.add(p);
    for (; k < kRates && p.x >= rate_at(k); ++k) thresholds[k] = threshold_text(curves, g + 1);
  }
  const std::vector<Point> drawn = line.finish();
  plot.line(drawn, theme::kLine, 2);
  plot.corner_note(area_lines(curves, 2), Anchor::start);
  out.svg = plot.picture();

  const Rates rates = precisions(counts, curves.metrics);
  out.caption = "Precision against recall of " + curves.score + " for the label " + curves.label +
                ", over all thresholds: " + positives + " and " + negatives + ". " +
                interval_text(curves, 1) + ", " + interval_text(curves, 2) + "." +
                band_text(curves, "recall");
  out.words = "At a recall of 50 % the precision is " + percent(rates[50]) + ", at 90 % it is " +
              percent(rates[90]) + "; the share of " + curves.names.positive + " alleles is " +
              percent(share) + ".";
  add_curve(out.numbers, "Recall", "Precision", tag + " of the first threshold with this recall", curves,
            rates, curves.intervals.precision_low, curves.intervals.precision_high, thresholds);
  out.multiqc = line_graph(out.name, out.title, "Recall", "Precision", {{curves.score, along(rates)}}, 1);
  return out;
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
  section.parts.push_back(precision_figure(name, tag, curves));
  section.parts.push_back(area_table(curves, labelled));
  return roc;
}

}  // namespace carbon
