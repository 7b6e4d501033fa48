// Scores beside each other. How far two scores of the same alleles agree: scatter and Bland-Altman plot.
// Scores of several files: the alleles that two files share as a scatter, and the ROC curves of all tags in
// one figure.

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/base/letters.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/statistics/agreement.hpp"

namespace carbon {
namespace {

constexpr size_t kLongestClass = 28;  // letters of its name
constexpr double kLimit = 1.96;       // standard deviations: 95 % of a normal distribution lie within them

// The differences B - A.
struct Differences {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

Differences differences_of(const std::vector<BothScores>& pairs) {
  Differences out;
  const auto count = static_cast<double>(pairs.size());
  // Corrected once by the mean of the distances from it, in which rounding hardly counts.
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    for (const BothScores& pair : pairs) sum += pair.b - pair.a - out.mean;
    out.mean += sum / count;
  }
  double squares = 0;
  for (const BothScores& pair : pairs) squares += (pair.b - pair.a - out.mean) * (pair.b - pair.a - out.mean);
  out.deviation = std::sqrt(squares / (count - 1));
  out.low = out.mean - kLimit * out.deviation;
  out.high = out.mean + kLimit * out.deviation;
  return out;
}

// What the figures and the table of two scores are made of.
struct Compared {
  const std::string &a, &b;  // the names of the scores
  std::string unit;
  const std::vector<BothScores>& pairs;
  const std::vector<NamedAllele>& named;  // the alleles, none of many
  const ClassNames* classes;              // of a label, or null
  Agreement agreement;
  Differences differences;

  // What two fields say of these alleles as dots, or as a cloud of many.
  Chart chart(const Field<BothScores>& x, const Field<BothScores>& y) const {
    Chart out;
    out.columns = columns_of(pairs, {x, y});
    const bool all_named = named.size() == pairs.size();
    ChartColumn alleles{.form = ChartColumn::hidden};
    for (size_t i = 0; i < pairs.size() && pairs.size() <= kMostDots; ++i) {
      alleles.texts.push_back(all_named ? named[i].name : "allele " + std::to_string(i + 1));
      if (all_named)
        out.tips.push_back(named[i].name + "\n" + a + ": " + value_text(pairs[i].a) + "\n" + b + ": " +
                           value_text(pairs[i].b));
    }
    out.columns.push_back(std::move(alleles));
    add_dots(out, classes && all_named);
    out.names = 2;
    out.cloud = true;
    out.row = "allele";
    return out;
  }

  // Classes lie upon what is in neither.
  void add_dots(Chart& out, bool coloured) const {
    const bool many = pairs.size() > 1000;
    const Series dots{.mark = Series::dots,
                      .name = "alleles",
                      .colour = theme::kLine,
                      .value = 1,
                      .size = many ? 1.5 : 2.2,
                      .opacity = many ? 0.5 : 0.6,
                      .in_legend = false};
    if (!coloured) {
      out.series = {dots};
      return;
    }
    const std::string names[] = {classes->positive, classes->negative, "neither"};
    for (size_t k = 0; k < kClassColours.size(); ++k) {
      Series& one = out.series.emplace_back(dots);
      one.rows.emplace();
      for (size_t i = 0; i < named.size(); ++i)
        if (class_of(named[i].label) == k) one.rows->push_back(i);
      one.name = cut_text(names[k], kLongestClass);
      one.legend = one.name + " (" + count_text(one.rows->size()) + ")";
      one.colour = kClassColours[k];
      one.in_legend = true;
    }
    std::erase_if(out.series, [](const Series& one) { return one.rows->empty(); });
  }
};

Figure scatter_figure(const std::string& name, const Compared& of) {
  Chart out = of.chart({of.a, "", &BothScores::a}, {of.b, "", &BothScores::b});
  std::vector<double> both = out.columns[0].numbers;
  both.insert(both.end(), out.columns[1].numbers.begin(), out.columns[1].numbers.end());
  out.name = name + "_scatter";
  out.title = of.b + " against " + of.a;
  out.width = 540, out.height = 520;
  out.x = out.y = value_axis(with_unit(of.a, of.unit), std::move(both));
  out.y.label = with_unit(of.b, of.unit);
  out.series.push_back(guide({{out.x.least, out.x.least}, {out.x.most, out.x.most}}, "equal scores"));
  out.what = of.b + " (upwards) against " + of.a + " (to the right) of " + count_text(of.pairs.size()) +
             " alleles that have both.";
  out.how = "On the dashed line both are equal.";
  out.facts = std::isnan(of.agreement.pearson)
                  ? "One of the scores is the same for all alleles, so there is no correlation."
                  : "Pearson correlation " + value_text(of.agreement.pearson) +
                        ", Spearman rank correlation " + value_text(of.agreement.spearman) + ".";
  out.words = out.facts + " The mean distance between the two is " +
              value_text(of.agreement.mean_difference) + ", the largest " +
              value_text(of.agreement.largest_difference) + ".";
  return figure_of(out);
}

Figure bland_altman_figure(const std::string& name, const Compared& of) {
  const Differences& found = of.differences;
  Chart out = of.chart({"Mean", "", [](const BothScores& pair) { return pair.a / 2 + pair.b / 2; }},
                       {"Difference", "", [](const BothScores& pair) { return pair.b - pair.a; }});
  const auto within =
      std::count_if(out.columns[1].numbers.begin(), out.columns[1].numbers.end(),
                    [&](double difference) { return difference >= found.low && difference <= found.high; });
  out.name = name + "_bland_altman";
  out.title = "Bland\u2013Altman plot of " + of.a + " and " + of.b;
  out.width = 640, out.height = 420;
  out.x = value_axis(with_unit("Mean of " + of.a + " and " + of.b, of.unit), out.columns[0].numbers);
  // With the lines, and room for their words.
  const auto [least, most] = middle_of(out.columns[1].numbers);
  const double low = std::min(least, found.low), high = std::max(most, found.high),
               room = 0.08 * (high - low);
  out.y = round_axis(with_unit(of.b + " \u2212 " + of.a, of.unit), low - room, high + room);
  const auto level = [&](double value, const std::string& legend, bool dashed) {
    out.series.push_back({.legend = legend,
                          .colour = theme::kMark,
                          .points = {{out.x.least, value}, {out.x.most, value}},
                          .size = 1.5,
                          .dashed = dashed,
                          .layer = 1});
  };
  level(found.mean, "mean difference", false);
  level(found.high, "limits of agreement", true);
  level(found.low, "", true);
  out.above = [&](Plot& plot) {
    const TextStyle left = {.colour = theme::kInk, .anchor = Anchor::start},
                    right = {.colour = theme::kInk, .anchor = Anchor::end};
    plot.note(out.x.least, found.mean, 4, -4, "mean " + value_text(found.mean), left);
    plot.note(out.x.most, found.high, -4, -4, "+1.96 SD " + value_text(found.high), right);
    plot.note(out.x.most, found.low, -4, 13, "\u22121.96 SD " + value_text(found.low), right);
  };
  out.what = "Difference " + of.b + " \u2212 " + of.a +
             " (upwards) against the mean of the two (to the right) of " + count_text(of.pairs.size()) +
             " alleles.";
  out.facts = "The mean difference is " + value_text(found.mean) + ", its standard deviation " +
              value_text(found.deviation) +
              "; the limits of agreement, mean \u00b1 1.96 standard deviations, are " +
              value_text(found.low) + " and " + value_text(found.high) + ".";
  out.words = value_text(100 * static_cast<double>(within) / static_cast<double>(of.pairs.size())) +
              " % of the alleles lie within the limits of agreement.";
  return figure_of(out);
}

Table measure_table(const Compared& of, bool high_a, bool high_b) {
  const Agreement& found = of.agreement;
  const std::string overlap = "Overlap of the " + std::string(overlap_words(high_a, high_b));
  Table out;
  out.title = "Agreement of " + of.a + " and " + of.b;
  out.columns = {{"Measure"}, {"Value", "", true}};
  out.rows = {{"Alleles with both scores", std::to_string(of.pairs.size())}};
  const std::pair<std::string, double> values[] = {
      {"Pearson correlation", found.pearson},
      {"Spearman rank correlation", found.spearman},
      {"Mean difference " + of.b + " \u2212 " + of.a, of.differences.mean},
      {"Standard deviation of the difference", of.differences.deviation},
      {"Lower limit of agreement", of.differences.low},
      {"Upper limit of agreement", of.differences.high},
      {"Mean absolute difference", found.mean_difference},
      {"Largest absolute difference", found.largest_difference},
      {overlap + " 1 %", found.overlap_1},
      {overlap + " 5 %", found.overlap_5}};
  for (const auto& [measure, value] : values) out.rows.push_back({measure, six_digits(value)});
  return out;
}

// With 64 bits two of a million alleles share a key once in thirty million files.
uint64_t key_of(const VariantRecord& record, size_t alt) {
  std::string text =
      record.contig + "\t" + std::to_string(record.pos) + "\t" + record.ref + "\t" + record.alts[alt];
  std::transform(text.begin(), text.end(), text.begin(), capital_letter);
  return std::hash<std::string>()(text);
}

std::string area_text(const RocCurve& curve) {
  std::string out = curve.name + ", AUROC " + value_text(curve.auroc());
  if (curve.intervals.samples > 0)
    out += " (" + value_text(curve.intervals.low[0]) + " to " + value_text(curve.intervals.high[0]) + ")";
  return out;
}

}  // namespace

void AgreementFigures::add(double a, double b, const std::string& name, LabelJudge::Verdict label) {
  pairs_.push_back({a, b});
  if (!name.empty() && pairs_.size() <= kMostDots)
    named_.push_back({name, label});
  else
    named_.clear();
}

void AgreementFigures::finish(const std::string& name, const ScoreTag& a, const ScoreTag& b, Section& section,
                              const ClassNames* classes) {
  const auto note = [&](std::string words) { section.paragraphs.push_back(std::move(words)); };
  if (pairs_.size() < 2)
    return note(std::string(pairs_.empty() ? "No allele has" : "Only one allele has") + " both " + a.name +
                " and " + b.name + ", too few to compare the two.");
  const Compared both{a.name, b.name,  a.unit == b.unit ? a.unit : "",    pairs_,
                      named_, classes, agreement(pairs_, a.high, b.high), differences_of(pairs_)};
  section.parts.push_back(scatter_figure(name, both));
  section.parts.push_back(bland_altman_figure(name, both));
  section.parts.push_back(measure_table(both, a.high, b.high));
  pairs_ = {};
  named_ = {};
}

Figure roc_overlay(const std::string& name, const std::string& label, const std::vector<RocCurve>& curves) {
  const ClassNames& names = curves[0].names;
  Chart out;
  out.name = name;
  out.title = "ROC curves of all scores";
  out.width = 620, out.height = 600;
  out.x.label = "False positive rate (share of " + names.negative + " alleles)";
  out.y.label = "True positive rate (share of " + names.positive + " alleles)";
  out.columns = columns_of<size_t>(numbers_to(kRates), {{"False positive rate", "", rate_at}});
  out.what = "Receiver operating characteristics for the label " + label + ", over all thresholds.";
  for (const RocCurve& curve : curves) {
    out.what += " " + area_text(curve) + ", of " + curve.positives() + " and " + curve.negatives() + ".";
    const size_t column = out.columns.size();
    if (column > theme::kSeries.size()) continue;
    out.columns.push_back(
        {curve.name, "true positive rate on the line", {curve.rates.begin(), curve.rates.end()}});
    out.series.push_back(
        {.legend = area_text(curve), .colour = theme::kSeries[column - 1], .points = curve.line});
    out.series.push_back({.name = curve.name, .value = column, .drawn = false});
  }
  out.series.push_back(guide({{0, 0}, {1, 1}}, "chance"));
  const std::string drawn = std::to_string(theme::kSeries.size());
  const bool intervals = std::any_of(curves.begin(), curves.end(),
                                     [](const RocCurve& curve) { return curve.intervals.samples > 0; });
  out.facts = sentences(
      {curves.size() > theme::kSeries.size() ? "The first " + drawn + " of these curves are drawn." : "",
       intervals ? "The numbers in brackets are 95 % bootstrap intervals." : ""});
  const auto best = std::max_element(curves.begin(), curves.end(), [](const RocCurve& a, const RocCurve& b) {
    return a.auroc() < b.auroc();
  });
  out.words = "The largest area is that of " + best->name + ", " + value_text(best->auroc()) + ".";
  return figure_of(out);
}

void VariantComparison::begin(const VariantLayout& layout) {
  files_.back().tag = layout.tags[0];
  files_.back().classes = layout.classes;
  if (files_.size() == 2)
    std::stable_sort(first_.begin(), first_.end(),
                     [](const Allele& a, const Allele& b) { return a.key < b.key; });
}

void VariantComparison::add(const VariantRecord& record) {
  if (files_.size() > 2) return;
  for (size_t alt = 0; alt < record.alts.size(); ++alt) {
    const float score = record.scores[0][alt];
    if (std::isnan(score)) continue;
    ++files_.back().scored;
    if (files_.size() == 1)
      first_.push_back({key_of(record, alt), score, verdict_of(record, alt), false});
    else
      pair(record, alt, score);
  }
}

// An allele that a file has twice is paired as often as the other file has it.
void VariantComparison::pair(const VariantRecord& record, size_t alt, float score) {
  const uint64_t key = key_of(record, alt);
  // Of equal keys those that are paired come first.
  const auto at = std::partition_point(first_.begin(), first_.end(), [key](const Allele& one) {
    return one.key < key || (one.key == key && one.paired);
  });
  if (at == first_.end() || at->key != key) return;
  at->paired = true;
  shared_.add(at->score, score, shared_.pairs() < kMostDots ? allele_name(record, alt) : "",
              at->label == LabelJudge::Verdict::missing ? verdict_of(record, alt) : at->label);
}

void VariantComparison::add(RocCurve curve) {
  curve.name = files_.back().name + ": " + curve.name;
  curves_.push_back(std::move(curve));
}

void VariantComparison::finish(const std::string& label, Section& section) {
  if (files_.size() < 2) return;
  if (curves_.size() > 1) section.parts.emplace_back(roc_overlay(section.name + "_roc", label, curves_));
  const File &a = files_[0], &b = files_[1];
  section.paragraphs.push_back(plural(shared_.pairs(), "allele", "has", "have") + " a score in both " +
                               a.name + " (of " + count_text(a.scored) + " with a score) and " + b.name +
                               " (of " + count_text(b.scored) +
                               "). Alleles are the same if contig, position, REF and ALT are.");
  ScoreTag of_a = a.tag, of_b = b.tag;
  of_a.name += " in " + a.name, of_b.name += " in " + b.name;
  shared_.finish(section.name + "_agreement", of_a, of_b, section, label.empty() ? nullptr : &b.classes);
}

}  // namespace carbon
