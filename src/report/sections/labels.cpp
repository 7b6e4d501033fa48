// How a score separates alleles with labels: the distribution of both classes, ROC and precision-recall.

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "src/base/numbers.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/statistics/curves.hpp"
#include "src/statistics/label.hpp"

namespace carbon {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kClassOpacity = 0.25, kBandOpacity = 0.22;
constexpr const char* kAreaNames[] = {"AUROC", "AUPRC", "average precision"};

std::string percent(double share) {
  return value_text(100 * share) + " %";
}

// ---- The distribution of both classes

Figure class_figure(const std::string& name, const std::string& tag, const std::string& label,
                    const LabelledScores& labelled) {
  std::vector<float> of_class[2];
  for (size_t i = 0; i < labelled.scores.size(); ++i)
    of_class[labelled.positive[i] ? 0 : 1].push_back(labelled.scores[i]);
  const ScoreBins bins = bins_for(labelled.scores);
  ScoreGroup classes[] = {score_group(labelled.names.positive, of_class[0], bins),
                          score_group(labelled.names.negative, of_class[1], bins)};
  Chart out;
  out.name = name + "_label_classes";
  out.title = tag + " by label";
  out.width = 640, out.height = 340;
  out.x = {with_unit(tag, labelled.unit), bins.edge(0), bins.edge(bins.size())};
  std::vector<Field<size_t>> fields = {
      {"From", "lower edge, which belongs to the interval", [&](size_t bin) { return bins.edge(bin); }},
      {"To", "upper edge", [&](size_t bin) { return bins.edge(bin + 1); }}};
  uint64_t beyond = 0;
  for (ScoreGroup& one : classes) {
    beyond += one.bins.below + one.bins.above;
    const auto share = [&one](size_t bin) {
      return static_cast<double>(one.bins.counts[bin]) /
             static_cast<double>(std::max<uint64_t>(1, one.scores.count));
    };
    fields.push_back({"Alleles: " + one.name, "number of alleles",
                      [&one](size_t bin) { return one.bins.counts[bin]; }, ChartColumn::count});
    fields.push_back({"Share: " + one.name, "of the alleles of this class", share});
    fields.push_back({"", "", [share](size_t bin) { return 100 * share(bin); }, ChartColumn::hidden});
    out.series.push_back({.mark = Series::steps,
                          .name = one.name,
                          .legend = plural(one.scores.count, one.name + " allele"),
                          .colour = kClassColours[out.series.size()],
                          .value = fields.size() - 1,
                          .opacity = kClassOpacity,
                          .edge = kClassColours[out.series.size()]});
  }
  out.columns = columns_of(numbers_to(bins.size()), fields);
  out.y = round_axis("Share of the alleles of the class (%)", 0,
                     ends_of(out, {out.series[0].value, out.series[1].value}, 0, 0).second);
  out.what = "Distribution of " + tag + " for " + out.series[0].legend + " and " + out.series[1].legend +
             ", by the label " + label + ": the share of a class in each of " +
             plural(bins.size(), "interval") + " of " + value_text(bins.width()) + ".";
  // So that no score is silently missing from the picture.
  if (beyond > 0) out.facts = plural(beyond, "score", "lies", "lie") + " beyond the ends of the axis.";
  out.words = "The median is " + value_text(classes[0].scores.quartiles[1]) + " for " + classes[0].name +
              " alleles and " + value_text(classes[1].scores.quartiles[1]) + " for " + classes[1].name +
              " ones.";
  return figure_of(out);
}

// ---- Curves

// What both curves are drawn from.
struct Curves {
  ScoreGroups groups;
  RocCurve roc;
  const ReportOptions& options;
};

// Points that the eye cannot tell apart on the paper are left out: those closer than a third of a pixel to
// the last one, and those in the middle of a level or upright part. Both axes reach from 0 to 1.
class ThinLine {
 public:
  void add(Point point) {
    if (points_.size() > 1 && straight(points_[points_.size() - 2], points_.back(), point))
      points_.back() = point;
    else if (points_.empty() ||
             std::max(std::abs(points_.back().x - point.x), std::abs(points_.back().y - point.y)) > kLeast)
      points_.push_back(point);
    last_ = point;
  }
  // Needs a point at least.
  std::vector<Point> finish() {
    if (points_.back().x != last_.x || points_.back().y != last_.y) points_.push_back(last_);
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

// An area and its interval, as they stand within the figure.
std::vector<std::string> area_lines(const Curves& curves, size_t area) {
  std::vector<std::string> out = {kAreaNames[area] + std::string(" ") +
                                  value_text(curves.roc.metrics.values[area])};
  if (curves.roc.intervals.samples > 0)
    out.push_back("95 % interval " + value_text(curves.roc.intervals.low[area]) + " to " +
                  value_text(curves.roc.intervals.high[area]));
  return out;
}

std::string interval_text(const Curves& curves, size_t area) {
  const std::vector<std::string> lines = area_lines(curves, area);
  return lines.size() == 1 ? lines[0] : lines[0] + " (" + lines[1] + ")";
}

std::string band_text(const Curves& curves, const std::string& rate) {
  if (curves.options.bootstrap == 0) return "";
  if (curves.roc.intervals.samples == 0)
    return "There is no band, because each of the " + plural(curves.options.bootstrap, "bootstrap sample") +
           " has one class alone.";
  std::string out = "The band holds 95 % of " + plural(curves.roc.intervals.samples, "bootstrap sample") +
                    " at each " + rate + " (seed " + std::to_string(curves.options.seed) + ").";
  if (curves.roc.intervals.joined)
    out += " In these samples neighbouring scores are joined to " + count_text(curves.roc.intervals.groups) +
           " groups, for the band and the intervals; line and areas use each score.";
  return out;
}

// A curve, and its numbers at each rate.
struct Curve {
  std::vector<Point> line;
  Rates values = {}, low = {}, high = {};  // and the band
  std::vector<double> thresholds;
};

// What both curves are alike in. `x` and `y` are the names of the rates without their classes, and `about`
// says which threshold a row has.
Chart curve_chart(const Curves& curves, const std::string& x, const std::string& y, const Curve& curve,
                  const std::string& about, double chance_from, double chance_to) {
  Chart out;
  out.what = " of " + curves.roc.name + " for the label " + curves.options.label +
             ", over all thresholds: " + curves.roc.positives() + " and " + curves.roc.negatives() + ". ";
  out.width = 520, out.height = 500;
  out.columns = columns_of<size_t>(
      numbers_to(kRates), {{x, "", rate_at},
                           {y, "on the line", [&](size_t k) { return curve.values[k]; }},
                           {"Low", "lower end of the band", [&](size_t k) { return curve.low[k]; }},
                           {"High", "upper end of the band", [&](size_t k) { return curve.high[k]; }},
                           {"Threshold", about, [&](size_t k) { return curve.thresholds[k]; }}});
  out.series = {{.legend = curves.roc.name, .colour = theme::kLine, .points = curve.line},
                {.name = curves.roc.name, .value = 1, .drawn = false}};
  if (curves.roc.intervals.samples > 0)
    out.series.push_back({.mark = Series::band,
                          .legend = "95 % of the samples",
                          .colour = theme::kLine,
                          .value = 3,
                          .low = 2,
                          .opacity = kBandOpacity});
  out.series.push_back(guide({{0, chance_from}, {1, chance_to}}, "chance"));
  return out;
}

// Goes through all thresholds. `point_of` makes a point of the numbers of true positives and of all alleles
// found. The threshold of a rate is the first that reaches it, or else the last up to it.
template <class PointOf>
Curve walk(const Curves& curves, Point first, bool reaches, PointOf point_of) {
  const std::span<const uint32_t> counts = curves.groups.counts();
  Curve out;
  out.thresholds.resize(kRates, NAN);
  ThinLine line;
  line.add(first);
  double tp = 0, found = 0, threshold = NAN;
  size_t k = reaches ? 1 : 0;  // no threshold reaches 0
  for (size_t g = 0; g < curves.groups.size(); ++g) {
    tp += counts[2 * g];
    found += counts[2 * g] + counts[2 * g + 1];
    const Point p = point_of(tp, found);
    line.add(p);
    const double before = std::exchange(threshold, curves.groups.threshold(g));
    for (; k < kRates && (reaches ? p.x >= rate_at(k) : p.x > rate_at(k)); ++k)
      out.thresholds[k] = reaches ? threshold : before;
  }
  for (; k < kRates; ++k) out.thresholds[k] = threshold;
  out.line = line.finish();
  return out;
}

// Keeps its line in `curves`.
Figure roc_figure(const std::string& name, const std::string& tag, Curves& curves) {
  Curve curve = walk(curves, {0, 0}, false, [&](double tp, double found) {
    return Point{(found - tp) / static_cast<double>(curves.roc.metrics.negative),
                 tp / static_cast<double>(curves.roc.metrics.positive)};
  });
  curve.values = curves.roc.rates;
  curve.low = curves.roc.intervals.roc_low, curve.high = curves.roc.intervals.roc_high;
  curves.roc.line = curve.line;
  Chart out = curve_chart(curves, "False positive rate", "True positive rate", curve,
                          tag + " of the last threshold up to this rate", 0, 1);
  out.name = name + "_roc";
  out.title = "ROC curve of " + tag;
  out.x.label = "False positive rate (share of " + curves.roc.negatives() + ")";
  out.y.label = "True positive rate (share of " + curves.roc.positives() + ")";
  out.corner = area_lines(curves, 0);
  out.what = "Receiver operating characteristic" + out.what + interval_text(curves, 0) + ".";
  out.how = band_text(curves, "false positive rate");
  out.words = "At a false positive rate of 5 % the true positive rate is " + percent(curve.values[5]) +
              ", at 10 % it is " + percent(curve.values[10]) + ".";
  return figure_of(out);
}

Figure precision_figure(const std::string& name, const std::string& tag, const Curves& curves) {
  const double share = static_cast<double>(curves.roc.metrics.positive) /
                       static_cast<double>(curves.roc.metrics.positive + curves.roc.metrics.negative);
  Curve curve = walk(curves, {0, 1}, true, [&](double tp, double found) {
    return Point{tp / static_cast<double>(curves.roc.metrics.positive), tp / found};
  });
  curve.values = precisions(curves.groups.counts(), curves.roc.metrics);
  curve.low = curves.roc.intervals.precision_low, curve.high = curves.roc.intervals.precision_high;
  Chart out = curve_chart(curves, "Recall", "Precision", curve,
                          tag + " of the first threshold with this recall", share, share);
  out.name = name + "_precision_recall";
  out.title = "Precision and recall of " + tag;
  out.x.label = "Recall (share of " + curves.roc.positives() + ")";
  out.y.label = "Precision (share of " + curves.roc.names.positive + " alleles among those found)";
  out.series.back().legend = "share of " + curves.roc.names.positive + " alleles, " + percent(share);
  out.corner = area_lines(curves, 2);
  out.corner_side = Anchor::start;
  out.what = "Precision against recall" + out.what + interval_text(curves, 1) + ", " +
             interval_text(curves, 2) + ".";
  out.how = band_text(curves, "recall");
  out.words = "At a recall of 50 % the precision is " + percent(curve.values[50]) + ", at 90 % it is " +
              percent(curve.values[90]) + "; the share of " + curves.roc.names.positive + " alleles is " +
              percent(share) + ".";
  return figure_of(out);
}

// As +auroc lists them.
Table area_table(const Curves& curves, const LabelledScores& labelled) {
  std::vector<NamedValue<SeparationMetric>> measures;
  const char* names[] = {"AUROC", "AUPRC (trapezoidal)", "Average precision"};
  const RocCurve& roc = curves.roc;
  for (size_t m = 0; m < std::size(names); ++m)
    measures.push_back({"", names[m], {roc.metrics.values[m], roc.intervals.low[m], roc.intervals.high[m]}});
  return measure_table(roc.name, curves.options.label, measures,
                       {{"", "Alleles: " + roc.names.positive, roc.metrics.positive},
                        {"", "Alleles: " + roc.names.negative, roc.metrics.negative},
                        {"", "Alleles without score", labelled.missing_score},
                        {"", "Alleles without label", labelled.missing_label},
                        {"", "Alleles with a label of neither class", labelled.other_label}});
}

// ---- What a clinic asks: at which value to decide, and how far the decision can be trusted

constexpr int kShares[] = {99, 95, 90, 80, 70, 50};  // %: sensitivities and specificities in the table

struct Found {
  double positive = 0, negative = 0;  // rows on the positive side
};

// Why a threshold is in the table, by its group: several rows would say the same.
std::map<size_t, std::string> chosen(const std::vector<Found>& found) {
  const double positives = found.back().positive, negatives = found.back().negative;
  std::map<size_t, std::string> out;
  const auto add = [&](size_t group, const std::string& why) {
    std::string& text = out[group];
    text += (text.empty() ? "" : "; ") + why;
  };
  // The first that finds as many, and the last that still leaves out as many.
  for (const int share : kShares)
    for (size_t g = 0; g < found.size(); ++g)
      if (100 * found[g].positive >= share * positives) {
        add(g, "sensitivity " + std::to_string(share) + " %");
        break;
      }
  for (const int share : kShares)
    for (size_t g = found.size(); g-- > 0;)
      if (100 * (negatives - found[g].negative) >= share * negatives) {
        add(g, "specificity " + std::to_string(share) + " %");
        break;
      }
  size_t best = 0;
  const auto sum = [&](const Found& one) { return one.positive / positives - one.negative / negatives; };
  for (size_t g = 1; g < found.size(); ++g)
    if (sum(found[g]) > sum(found[best])) best = g;
  add(best, "largest sum of both");
  return out;
}

// Those at round sensitivities and specificities, and that with the largest sum of both. Neither class is
// empty. `negate` as in the groups. A threshold has all its digits: rounded, it could leave out the allele
// whose score it is.
Table threshold_table(const ScoreGroups& groups, const std::string& tag, const ClassNames& names,
                      bool negate) {
  std::vector<Found> found;
  for (size_t g = 0; g < groups.size(); ++g) {
    Found next = found.empty() ? Found{} : found.back();
    next.positive += groups.counts()[2 * g], next.negative += groups.counts()[2 * g + 1];
    found.push_back(next);
  }
  const double positives = found.back().positive, negatives = found.back().negative;
  using Row = std::pair<size_t, std::string>;  // the group, and why it is in the table
  const auto tp = [&](const Row& row) { return found[row.first].positive; };
  const auto fp = [&](const Row& row) { return found[row.first].negative; };
  const std::map<size_t, std::string> rows = chosen(found);
  Table out = table_of<Row>(
      "Thresholds of " + tag + ": an allele counts as " + names.positive +
          " if its score is the threshold or " + (negate ? "lower" : "higher"),
      {rows.begin(), rows.end()},
      {{"Threshold", tag,
        [&](const Row& row) {
          std::string digits;
          append_shortest(groups.threshold(row.first), digits);
          return digits;
        }},
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
  out.columns[0].number = true;
  out.brief = "Thresholds of " + tag;
  out.predictive = {positives / (positives + negatives), names.positive};
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

Table measure_table(const std::string& score, const std::string& label,
                    const std::vector<NamedValue<SeparationMetric>>& measures,
                    const std::vector<NamedValue<uint64_t>>& counts) {
  Table out;
  out.title = "How well " + score + " separates the label " + label;
  out.columns = {{"Measure"},
                 {"Value", "", true},
                 {"Low", "lower end of the bootstrap interval", true},
                 {"High", "upper end of the bootstrap interval", true}};
  for (const auto& [key, name, one] : measures)
    out.rows.push_back({name, six_digits(one.value), six_digits(one.low), six_digits(one.high)});
  for (const auto& [key, name, count] : counts) out.rows.push_back({name, std::to_string(count), ".", "."});
  return out;
}

Axis auroc_axis(const Chart& chart, std::initializer_list<size_t> columns) {
  return {"AUROC", ends_of(chart, columns, 0.5, 1).first < 0.5 ? 0.0 : 0.5, 1};
}

void add_label_provenance(const JudgedLabel& label, const char* score, Section& section) {
  section.provenance.emplace_back(
      "Label", label.expression + (label.negated ? std::string(", judged by minus the ") + score : ""));
  section.provenance.emplace_back("Bootstrap", count_text(label.bootstrap) + " samples, seed " +
                                                   std::to_string(label.seed) + ", confidence " +
                                                   value_text(label.confidence));
}

std::optional<RocCurve> add_label_figures(const std::string& name, const std::string& tag,
                                          const LabelledScores& labelled, const ReportOptions& options,
                                          Section& section) {
  const bool negate = labelled.low || (options.negate && !labelled.high);
  Curves curves{ScoreGroups(labelled.scores, labelled.positive, negate), {}, options};
  RocCurve& roc = curves.roc;
  roc.name = (negate ? "minus " : "") + tag;
  roc.names = labelled.names;
  roc.metrics = class_metrics(curves.groups.counts());
  if (!roc.metrics.defined()) {
    section.paragraphs.push_back(why_no_curves(tag, options.label, labelled));
    return std::nullopt;
  }
  if (const double auroc = roc.auroc(); auroc < 0.5) {
    const auto words = [&](const char* article) {
      return reversed_words(tag, six_digits(auroc), negate, labelled.low || labelled.high, article);
    };
    options.log->warning("report", words("the"));
    section.paragraphs.push_back(words("The"));
  }
  roc.rates = true_positive_rates(curves.groups.counts(), roc.metrics);
  roc.intervals = CurveBootstrap::intervals(curves.groups, options.bootstrap, options.seed, kConfidence);
  section.parts.push_back(class_figure(name, tag, options.label, labelled));
  section.parts.push_back(roc_figure(name, tag, curves));
  section.parts.push_back(threshold_table(curves.groups, tag, labelled.names, negate));
  section.parts.push_back(precision_figure(name, tag, curves));
  section.parts.push_back(area_table(curves, labelled));
  return std::move(roc);
}

}  // namespace carbon
