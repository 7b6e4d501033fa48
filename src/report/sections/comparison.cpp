#include "src/report/sections/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/letters.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/theme.hpp"
#include "src/report/sections/agreement.hpp"
#include "src/report/sections/distributions.hpp"
#include "src/report/sections/score_figures.hpp"

namespace carbon {
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
  figures.finish(name + "_agreement", score_name(a), score_name(b), section,
                 a.tag.unit == b.tag.unit ? a.tag.unit : "");
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
