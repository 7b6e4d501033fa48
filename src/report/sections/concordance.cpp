// Draws what +concord measured: correlations of two scores in strata, how well each separates labels, and
// whether bounds are met.
#include <algorithm>
#include <cmath>

#include "src/base/words.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kMostDrawn = 30, kLongestName = 22;
constexpr double kWidth = 640;
constexpr const char* kBeside = "Beside each name stand the numbers of positive and negative alleles.";

uint64_t count_of(const ConcordanceLine& line, std::string_view key) {
  const double value = line.value(key);
  return std::isnan(value) ? 0 : static_cast<uint64_t>(value);
}

class ConcordanceFigures {
 public:
  ConcordanceFigures(std::string name, const std::string& path)
      : name_(std::move(name)),
        path_(path),
        file_(read_concordance(path)),
        all_(file_.lines[0]),
        a_(file_.tag_a),
        b_(file_.tag_b) {
    if (file_.file_a == file_.file_b) return;
    a_ += " of " + file_name(file_.file_a);
    b_ += " of " + file_name(file_.file_b);
    if (a_ == b_) a_ += " (A)", b_ += " (B)";
  }

  Section section() const {
    Section out = begin_section(name_, path_, "agreement of " + both(), {});
    const std::string a = file_.tag_a + " of " + file_.file_a, b = file_.tag_b + " of " + file_.file_b;
    const uint64_t n = count_of(all_, "n");
    out.paragraphs.push_back(
        "Of " + plural(count_of(all_, "alleles"), "allele") + " of the first file, " + count_text(n) +
        (n == 1 ? " has both scores and is compared." : " have both scores and are compared."));
    out.models.push_back("A is " + a_ + ", B is " + b_ + ".");
    for (const std::string key : {"n", "pearson", "spearman"})
      if (const double value = all_.value(key); !std::isnan(value)) {
        const ConcordanceField& field = concordance_fields()[concordance_place(key)];
        out.statistics.push_back({key, field.name, field.about + " of " + both(), value});
      }
    out.parts.push_back(correlations());
    add_classes(out);
    add_bounds(out);
    out.parts.push_back(all_fields());
    out.provenance.insert(out.provenance.end(), {{"A", a}, {"B", b}});
    if (!file_.by.empty()) out.provenance.emplace_back("Strata by", file_.by);
    if (file_.label) add_label_provenance(*file_.label, "scores", out);
    return out;
  }

 private:
  std::string both() const { return a_ + " and " + b_; }

  using Line = const ConcordanceLine*;

  // The columns of the names of lines and of some fields.
  std::vector<ChartColumn> columns(const std::vector<Line>& lines, const std::vector<size_t>& places) const {
    std::vector<Field<Line>> out = {
        {file_.by.empty() ? "Alleles" : file_.by, "", [](const Line& line) { return line->name; }}};
    for (const size_t place : places) {
      const ConcordanceField& field = concordance_fields()[place];
      out.push_back({field.name, field.about, [place](const Line& line) { return line->values[place]; },
                     field.kind == ConcordanceField::count ? ChartColumn::count : ChartColumn::six});
    }
    return columns_of(lines, out);
  }

  // A chart of all alleles and the strata that have most of what `keys` begins with, in the order of the
  // file: their names, and these fields as columns from 1. A stratum without any has nothing to be drawn.
  Chart strata_chart(const std::vector<std::string>& keys) const {
    std::vector<Line> lines;
    for (const ConcordanceLine& line : file_.lines)
      if (&line == &all_ || line.value(keys[0]) > 0) lines.push_back(&line);
    if (lines.size() > kMostDrawn + 1) {
      std::stable_sort(lines.begin() + 1, lines.end(),
                       [&](const auto* a, const auto* b) { return a->value(keys[0]) > b->value(keys[0]); });
      lines.resize(kMostDrawn + 1);
      std::sort(lines.begin() + 1, lines.end());
    }
    Chart out;
    out.width = kWidth;
    std::vector<size_t> places;
    for (const std::string& key : keys) places.push_back(concordance_place(key));
    out.columns = columns(lines, places);
    std::vector<std::string> labels;
    for (const Line line : lines)
      labels.push_back(cut_text(line->name, kLongestName) + " (" + (keys[0] == "n" ? "n = " : "") +
                       count_text(count_of(*line, keys[0])) +
                       (keys[0] == "n" ? "" : " / " + count_text(count_of(*line, keys[1]))) + ")");
    out.y = category_axis("", labels);
    if (lines.size() < file_.lines.size())
      out.facts = "Of all strata, the " + std::to_string(lines.size() - 1) + " with the most " +
                  (keys[0] == "n" ? "compared" : "positive") + " alleles are drawn; the table has all.";
    return out;
  }

  Figure correlations() const {
    Chart out = strata_chart({"n", "pearson", "spearman"});
    out.name = name_ + "_correlations";
    out.title = "Correlation of " + both();
    out.x = {"Correlation", ends_of(out, {2, 3}, 0, 1).first < 0 ? -1.0 : 0.0, 1};
    out.series = {{.mark = Series::bars, .name = "Pearson", .value = 2},
                  {.mark = Series::bars, .name = "Spearman", .colour = theme::kSeries[1], .value = 3}};
    out.what = "Pearson and Spearman rank correlation of " + both() + " for all alleles" +
               (file_.lines.size() > 1 ? " and for each " + file_.by : std::string()) +
               "; n is the number of alleles with both scores.";
    const double pearson = all_.value("pearson"), spearman = all_.value("spearman");
    out.words = "For all alleles together ";
    out.words += std::isnan(pearson + spearman)
                     ? "the correlations are undefined, because one score has the same value for all."
                     : "Pearson's correlation is " + value_text(pearson) + " and Spearman's " +
                           value_text(spearman) + ".";
    return figure_of(out);
  }

  Figure areas() const {
    Chart out = strata_chart({"positive", "negative", "auroc_a", "auroc_b"});
    out.name = name_ + "_auroc";
    out.title = "AUROC of " + both();
    out.x = auroc_axis(out, {3, 4});
    out.series = {{.mark = Series::dots, .name = a_, .value = 3, .size = 4.5},
                  {.mark = Series::dots, .name = b_, .colour = theme::kSeries[1], .value = 4, .size = 4.5},
                  {.mark = Series::range, .colour = theme::kReference, .value = 3, .low = 4}};
    out.what = "Area under the ROC curve of " + both() + " for the label " + file_.label->expression +
               (file_.label->negated ? ", where low scores speak for it" : "") + ".";
    out.how = kBeside;
    out.words = "For all alleles together it is " + value_text(all_.value("auroc_a")) + " for " + a_ +
                " and " + value_text(all_.value("auroc_b")) + " for " + b_ + ".";
    return figure_of(out);
  }

  Figure differences() const {
    Chart out = strata_chart({"positive", "negative", "auroc_diff", "auroc_diff_low", "auroc_diff_high"});
    out.name = name_ + "_auroc_difference";
    out.title = "AUROC of " + b_ + " \u2212 AUROC of " + a_;
    const auto [least, most] = ends_of(out, {3, 4, 5}, 0, 0);
    out.x = round_axis("Difference of AUROC", least, most);
    const double foot = static_cast<double>(out.y.names.size()) - 0.5;
    out.series = {{.mark = Series::dots, .name = "difference", .colour = theme::kLine, .value = 3, .size = 4},
                  {.mark = Series::range, .colour = theme::kLine, .value = 5, .low = 4},
                  guide({{0, -0.5}, {0, foot}})};
    out.what = "Difference of the areas under the ROC curves, B \u2212 A, where A is " + a_ + " and B is " +
               b_ + ": below zero B separates the label " + file_.label->expression + " less well.";
    const std::vector<double>& low = out.columns[4].numbers;
    if (!std::all_of(low.begin(), low.end(), [](double value) { return std::isnan(value); }))
      out.how = "Lines are " + value_text(100 * file_.label->confidence) + " % intervals of " +
                count_text(file_.label->bootstrap) + " bootstrap samples. ";
    out.how += kBeside;
    out.words = "For all alleles together the difference is " + value_text(all_.value("auroc_diff"));
    if (const double from = all_.value("auroc_diff_low"), to = all_.value("auroc_diff_high");
        !std::isnan(from + to))
      out.words += ", with an interval from " + value_text(from) + " to " + value_text(to);
    out.words += ".";
    return figure_of(out);
  }

  void add_classes(Section& section) const {
    if (!file_.label) return;
    if (std::isnan(all_.value("auroc_a") + all_.value("auroc_b") + all_.value("auroc_diff"))) {
      section.paragraphs.push_back(
          "By the label " + file_.label->expression +
          " there are no two classes among the alleles with both scores, so AUROC is undefined.");
      return;
    }
    section.parts.push_back(areas());
    section.parts.push_back(differences());
  }

  void add_bounds(Section& section) const {
    if (file_.bounds.empty()) return;
    size_t missed = 0;
    for (const ConcordanceBound& bound : file_.bounds) missed += !bound.met;
    const size_t count = file_.bounds.size();
    section.paragraphs.push_back(
        missed > 0   ? std::to_string(missed) + " of " + plural(count, "bound", "is", "are") + " not met."
        : count == 1 ? "The bound that was set is met."
                     : "All " + std::to_string(count) + " bounds that were set are met.");
    section.parts.push_back(table_of<ConcordanceBound>(
        "Bounds", file_.bounds,
        {{"Option", "", &ConcordanceBound::option},
         {"Bound", "", &ConcordanceBound::bound},
         {"Value", "that was measured for all alleles", &ConcordanceBound::value},
         {"Met", "", [](const ConcordanceBound& bound) { return bound.met ? "yes" : "no"; }}}));
  }

  // All strata and fields, but for fields that the file has of no stratum.
  Table all_fields() const {
    std::vector<Line> lines;
    for (const ConcordanceLine& line : file_.lines) lines.push_back(&line);
    std::vector<size_t> known;
    for (size_t i = 0; i < concordance_fields().size(); ++i)
      if (!std::all_of(lines.begin(), lines.end(), [i](Line line) { return std::isnan(line->values[i]); }))
        known.push_back(i);
    Table out = table_of("Agreement of " + both(), columns(lines, known));
    out.brief = "All measures of agreement";
    out.search = lines.size() > 10;
    return out;
  }

  const std::string name_, path_;
  const ConcordanceFile file_;
  const ConcordanceLine& all_;
  std::string a_, b_;  // the two scores: their tags, with the files where these differ
};

}  // namespace

Section concordance_section(const std::string& name, const std::string& path, const ReportOptions&) {
  return ConcordanceFigures(name, path).section();
}

}  // namespace carbon
