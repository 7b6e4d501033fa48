#include "src/report/sections/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/base/letters.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/distributions.hpp"
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

Table measure_table(const ScoreTag& a, const ScoreTag& b, size_t count, const Agreement& found,
                    const Differences& differences) {
  const std::string &tag_a = a.name, &tag_b = b.name;
  const std::string overlap = "Overlap of the " + std::string(overlap_words(a.high, b.high));
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
              {overlap + " 1 %", six_digits(found.overlap_1)},
              {overlap + " 5 %", six_digits(found.overlap_5)}};
  return out;
}

}  // namespace

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

void AgreementFigures::finish(const std::string& name, const ScoreTag& a, const ScoreTag& b,
                              Section& section) {
  const std::string &tag_a = a.name, &tag_b = b.name, unit = a.unit == b.unit ? a.unit : "";
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
  const Agreement found = agreement(pairs_, a.high, b.high);
  const Differences differences = differences_of(pairs_);
  section.parts.push_back(scatter_figure(name, tag_a, tag_b, unit, pairs_, found, names_));
  section.parts.push_back(bland_altman_figure(name, tag_a, tag_b, unit, pairs_, differences, names_));
  section.parts.push_back(measure_table(a, b, pairs_.size(), found, differences));
  pairs_ = {};
  names_ = {};
}

namespace {

constexpr size_t kLongestFile = 40;  // letters of the name of a file

// FNV-1a. With 64 bits two of a million alleles share a key once in thirty million files.
class AlleleKey {
 public:
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<uint8_t>(capital_letter(c)));
    add(uint8_t{0});
  }
  uint64_t value() const { return value_; }

 private:
  void add(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  uint64_t value_ = 0xcbf29ce484222325;
};

uint64_t key_of(const VariantRecord& record, size_t alt) {
  AlleleKey key;
  key.add(record.contig);
  key.add(std::to_string(record.pos));
  key.add(record.ref);
  key.add(record.alts[alt]);
  return key.value();
}

std::string area_text(const RocCurve& curve) {
  std::string out = curve.name + ", AUROC " + value_text(curve.auroc);
  if (curve.interval) out += " (" + value_text(curve.low) + " to " + value_text(curve.high) + ")";
  return out;
}

Table rates_table(const std::vector<RocCurve>& curves, size_t drawn) {
  Table out;
  out.columns = {{"False positive rate", "", true}};
  for (size_t i = 0; i < drawn; ++i)
    out.columns.push_back({curves[i].name, "true positive rate on the line", true});
  for (size_t k = 0; k < kRates; ++k) {
    std::vector<std::string> row = {six_digits(rate_at(k))};
    for (size_t i = 0; i < drawn; ++i) row.push_back(six_digits(curves[i].rates[k]));
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace

Figure roc_overlay(const std::string& name, const std::string& label, const std::vector<RocCurve>& curves) {
  const size_t drawn = std::min(curves.size(), theme::kSeries.size());
  Figure out;
  out.name = name;
  out.title = "ROC curves of all scores";
  const ClassNames& names = curves[0].names;
  Plot plot(out.title, 620, 600,
            {"False positive rate (share of " + names.negative + " alleles)", 0, 1, false, {}},
            {"True positive rate (share of " + names.positive + " alleles)", 0, 1, false, {}});
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < drawn; ++i)
    legend.push_back({area_text(curves[i]), theme::kSeries[i], LegendEntry::line});
  legend.push_back({"chance", theme::kSoft, LegendEntry::dashes});
  plot.legend(legend);
  plot.line(std::vector<Point>{{0, 0}, {1, 1}}, theme::kSoft, 1, true);
  for (size_t i = 0; i < drawn; ++i) plot.line(curves[i].line, theme::kSeries[i], 2);
  out.svg = plot.picture();

  out.caption = "Receiver operating characteristics for the label " + label + ", over all thresholds.";
  for (const RocCurve& curve : curves)
    out.caption += " " + area_text(curve) + ", of " + count_text(curve.positive) + " " + names.positive +
                   " and " + count_text(curve.negative) + " " + names.negative + " alleles.";
  if (drawn < curves.size())
    out.caption += " The first " + std::to_string(drawn) + " of these curves are drawn.";
  if (curves[0].interval) out.caption += " The numbers in brackets are 95 % bootstrap intervals.";
  const auto best = std::max_element(curves.begin(), curves.end(),
                                     [](const RocCurve& a, const RocCurve& b) { return a.auroc < b.auroc; });
  out.words = "The largest area is that of " + best->name + ", " + value_text(best->auroc) + ".";
  out.numbers = rates_table(curves, drawn);
  std::vector<std::pair<std::string, std::vector<Point>>> lines;
  for (size_t i = 0; i < drawn; ++i) {
    lines.emplace_back(curves[i].name, std::vector<Point>());
    for (size_t k = 0; k < kRates; ++k) lines.back().second.push_back({rate_at(k), curves[i].rates[k]});
  }
  out.multiqc = line_graph(out.name, out.title, "False positive rate", "True positive rate", lines, 1);
  return out;
}

void VariantComparison::begin(const std::string& file, const VariantLayout& layout) {
  files_.push_back({cut_text(file, kLongestFile), layout.tags[0], 0, {}, {}});
}

void VariantComparison::add(const VariantRecord& record) {
  files_.back().total += record.alts.size();
  for (size_t alt = 0; alt < record.alts.size(); ++alt)
    if (const float score = record.scores[0][alt]; std::isfinite(score)) {
      File& file = files_.back();
      file.alleles.push_back({key_of(record, alt), score});
      if (file.alleles.size() <= PairCloud::kMostDots) file.names.push_back(allele_name(record, alt));
    }
}

void VariantComparison::add(RocCurve curve) {
  curve.name = files_.back().name + ": " + curve.name;
  curves_.push_back(std::move(curve));
}

bool VariantComparison::one_tag() const {
  return std::all_of(files_.begin(), files_.end(),
                     [&](const File& file) { return file.tag.name == files_[0].tag.name; });
}

std::string VariantComparison::list_of_files() const {
  std::string out;
  for (size_t i = 0; i < files_.size(); ++i)
    out += (i == 0 ? "" : i + 1 == files_.size() ? " and " : ", ") + files_[i].name;
  return out;
}

std::string VariantComparison::score_name(const File& file) const {
  return file.tag.name + " in " + file.name;
}

// On one axis, so that the files can be compared by eye.
void VariantComparison::add_distributions(const std::string& name, Section& section) const {
  std::vector<std::vector<float>> scores(files_.size());
  std::vector<float> all;
  for (size_t f = 0; f < files_.size(); ++f)
    for (const Allele& allele : files_[f].alleles) {
      scores[f].push_back(allele.score);
      all.push_back(allele.score);
    }
  if (all.empty()) return;
  const ScoreSummary summary(all);
  const ScoreBins bins = bins_for(all, summary);
  std::vector<ScoreGroup> groups;
  for (size_t f = 0; f < files_.size(); ++f) {
    ScoreGroup group{one_tag() ? files_[f].name : score_name(files_[f]), files_[f].total, {}, {}};
    for (const float score : scores[f]) group.bins.add(bins, score);
    group.scores = ScoreSummary(scores[f]);
    groups.push_back(std::move(group));
  }
  ScoreTag tag = files_[0].tag;
  if (!one_tag()) tag.name = "first score of each file";
  if (std::any_of(files_.begin(), files_.end(), [&](const File& f) { return f.tag.unit != tag.unit; }))
    tag.unit = "";
  section.parts.emplace_back(score_rows({name + "_scores", "", tag}, "file", groups, bins));
  section.parts.emplace_back(score_table(tag, {{"file", &groups}}));
}

void VariantComparison::add_scatter(const std::string& name, Section& section) {
  File &a = files_[0], &b = files_[1];
  std::vector<Allele> sorted = b.alleles;
  const auto by_key = [](const Allele& x, const Allele& y) { return x.key < y.key; };
  std::stable_sort(sorted.begin(), sorted.end(), by_key);
  AgreementFigures figures;
  uint64_t shared = 0;
  for (size_t i = 0; i < a.alleles.size(); ++i) {
    const Allele& allele = a.alleles[i];
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), allele, by_key);
    if (at == sorted.end() || at->key != allele.key) continue;
    figures.add(static_cast<double>(allele.score), static_cast<double>(at->score),
                i < a.names.size() ? a.names[i] : "");
    ++shared;
  }
  section.paragraphs.push_back(plural(shared, "allele") + (shared == 1 ? " has" : " have") +
                               " a score in both " + a.name + " (of " + count_text(a.alleles.size()) +
                               " with a score) and " + b.name + " (of " + count_text(b.alleles.size()) +
                               "). Alleles are the same if contig, position, REF and ALT are.");
  ScoreTag of_a = a.tag, of_b = b.tag;
  of_a.name = score_name(a), of_b.name = score_name(b);
  figures.finish(name + "_agreement", of_a, of_b, section);
}

Section VariantComparison::section(const std::string& name, const std::string& label) {
  Section out;
  out.name = name;
  out.title = "Comparison of " + list_of_files();
  add_distributions(name, out);
  if (curves_.size() > 1) out.parts.emplace_back(roc_overlay(name + "_roc", label, curves_));
  add_scatter(name, out);
  return out;
}

}  // namespace carbon
