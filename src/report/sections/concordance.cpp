// Draws what +concord measured: correlations of two scores in strata, how well each separates labels, and
// whether bounds are met.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

#include "src/base/words.hpp"
#include "src/report/drawing/chart.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/concordance.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kMostDrawn = 30, kLongestName = 22;
constexpr double kWidth = 640;

std::string digits_or_point(std::optional<double> value) {
  return value ? six_digits(*value) : ".";
}

std::string whole(std::optional<double> value) {
  return value ? std::to_string(static_cast<uint64_t>(*value)) : ".";
}

// What the figures draw of a file: all alleles and the strata with the most pairs, in the order of the file.
// A stratum without any has nothing to be drawn.
struct Drawn {
  std::vector<const ConcordanceLine*> lines;
  size_t left_out = 0;

  std::string note() const {
    if (left_out == 0) return "";
    return " Of all strata, the " + std::to_string(lines.size() - 1) +
           " with the most alleles are drawn; the table has all.";
  }
};

Drawn choose(const ConcordanceFile& file, std::string_view count) {
  std::vector<size_t> order(file.lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() > kMostDrawn + 1) {
    std::stable_sort(order.begin() + 1, order.end(), [&](size_t a, size_t b) {
      return file.lines[a].value(count).value_or(0) > file.lines[b].value(count).value_or(0);
    });
    order.resize(kMostDrawn + 1);
    std::sort(order.begin(), order.end());
  }
  std::erase_if(order, [&](size_t i) { return i > 0 && file.lines[i].value(count).value_or(0) == 0; });
  Drawn out;
  for (const size_t i : order) out.lines.push_back(&file.lines[i]);
  out.left_out = file.lines.size() - order.size();
  return out;
}

Axis name_axis(const Drawn& drawn, const std::vector<std::string>& counts) {
  std::vector<std::string> names;
  for (size_t i = 0; i < drawn.lines.size(); ++i)
    names.push_back(first_letters(drawn.lines[i]->name, kLongestName) + " (" + counts[i] + ")");
  return category_axis("", std::move(names));
}

// The names of the two scores: their tags, with the files where the tags are the same.
struct Names {
  std::string a, b, both;
};

Names names_of(const ConcordanceFile& file) {
  Names out{file.tag_a, file.tag_b, file.tag_a + " and " + file.tag_b};
  if (file.file_a == file.file_b) return out;
  out.a += " of " + file_name(file.file_a);
  out.b += " of " + file_name(file.file_b);
  if (out.a == out.b) out.a += " (A)", out.b += " (B)";
  out.both = out.a + " and " + out.b;
  return out;
}

const ConcordanceField& field_of(std::string_view key) {
  return *std::find_if(concordance_fields().begin(), concordance_fields().end(),
                       [&](const ConcordanceField& field) { return field.key == key; });
}

// A chart of strata: their names and these fields, with the places of the fields as columns from 1.
Chart stratum_chart(const std::string& name, const ConcordanceFile& file, const Drawn& drawn,
                    const std::vector<std::string>& counts, const std::vector<std::string_view>& keys) {
  Chart out;
  out.name = name;
  out.width = kWidth;
  out.y = name_axis(drawn, counts);
  out.columns.push_back({.name = file.by.empty() ? "Alleles" : file.by});
  for (const ConcordanceLine* line : drawn.lines) out.columns[0].texts.push_back(line->name);
  for (const std::string_view key : keys) {
    const ConcordanceField& field = field_of(key);
    ChartColumn& column = out.columns.emplace_back();
    column.name = std::string(field.name);
    column.about = std::string(field.about);
    if (field.kind == ConcordanceField::count) column.form = ChartColumn::count;
    for (const ConcordanceLine* line : drawn.lines) column.numbers.push_back(line->value(key).value_or(NAN));
  }
  return out;
}

// The least and the most of some columns and two values.
std::pair<double, double> ends_of(const Chart& chart, std::initializer_list<size_t> columns, double least,
                                  double most) {
  for (const size_t column : columns)
    for (const double value : chart.columns[column].numbers)
      if (!std::isnan(value)) least = std::min(least, value), most = std::max(most, value);
  return {least, most};
}

Figure correlation_figure(const std::string& name, const ConcordanceFile& file, const Names& names) {
  const Drawn drawn = choose(file, "n");
  std::vector<std::string> counts;
  for (const ConcordanceLine* line : drawn.lines)
    counts.push_back("n = " + count_text(static_cast<uint64_t>(line->value("n").value_or(0))));
  Chart out = stratum_chart(name + "_correlations", file, drawn, counts, {"n", "pearson", "spearman"});
  out.title = "Correlation of " + names.both;
  out.x = {"Correlation", ends_of(out, {2, 3}, 0, 1).first < 0 ? -1.0 : 0.0, 1, false, {}};
  out.series = {{.mark = Series::bars, .name = "Pearson", .value = 2},
                {.mark = Series::bars, .name = "Spearman", .colour = theme::kSeries[1], .value = 3}};
  out.what = "Pearson and Spearman rank correlation of " + names.both + " for all alleles" +
             (file.lines.size() > 1 ? " and for each " + file.by : std::string()) +
             "; n is the number of alleles with both scores." + drawn.note();
  const ConcordanceLine& all = file.lines[0];
  if (const auto pearson = all.value("pearson"), spearman = all.value("spearman"); pearson && spearman)
    out.words = "For all alleles together Pearson's correlation is " + value_text(*pearson) +
                " and Spearman's " + value_text(*spearman) + ".";
  else
    out.words =
        "For all alleles together the correlations are undefined, because one score has the same value for "
        "all.";
  return figure_of(out);
}

std::vector<std::string> all_class_counts(const Drawn& drawn) {
  std::vector<std::string> out;
  for (const ConcordanceLine* line : drawn.lines)
    out.push_back(count_text(static_cast<uint64_t>(line->value("positive").value_or(0))) + " / " +
                  count_text(static_cast<uint64_t>(line->value("negative").value_or(0))));
  return out;
}

Figure auroc_figure(const std::string& name, const ConcordanceFile& file, const Names& names,
                    const Drawn& drawn) {
  Chart out = stratum_chart(name + "_auroc", file, drawn, all_class_counts(drawn),
                            {"positive", "negative", "auroc_a", "auroc_b"});
  out.title = "AUROC of " + names.both;
  out.x = {"AUROC", ends_of(out, {3, 4}, 0.5, 1).first < 0.5 ? 0.0 : 0.5, 1, false, {}};
  out.series = {{.mark = Series::dots, .name = names.a, .value = 3, .size = 4.5},
                {.mark = Series::dots, .name = names.b, .colour = theme::kSeries[1], .value = 4, .size = 4.5},
                {.mark = Series::range, .colour = theme::kReference, .value = 3, .low = 4}};
  out.what = "Area under the ROC curve of " + names.a + " and " + names.b + " for the label " + file.label +
             (file.negated ? ", where low scores speak for it" : "") + "." + drawn.note();
  out.how = "Beside each name stand the numbers of positive and negative alleles.";
  const ConcordanceLine& all = file.lines[0];
  out.words = "For all alleles together it is " + value_text(*all.value("auroc_a")) + " for " + names.a +
              " and " + value_text(*all.value("auroc_b")) + " for " + names.b + ".";
  return figure_of(out);
}

Figure difference_figure(const std::string& name, const ConcordanceFile& file, const Names& names,
                         const Drawn& drawn) {
  Chart out = stratum_chart(name + "_auroc_difference", file, drawn, all_class_counts(drawn),
                            {"positive", "negative", "auroc_diff", "auroc_diff_low", "auroc_diff_high"});
  out.title = "AUROC of " + names.b + " \u2212 AUROC of " + names.a;
  const auto [least, most] = ends_of(out, {3, 4, 5}, 0, 0);
  out.x = round_axis("Difference of AUROC", least, most);
  const double foot = static_cast<double>(drawn.lines.size()) - 0.5;
  out.series = {{.mark = Series::dots, .name = "difference", .colour = theme::kLine, .value = 3, .size = 4},
                {.mark = Series::range, .colour = theme::kLine, .value = 5, .low = 4},
                {.colour = theme::kSoft, .points = {{0, -0.5}, {0, foot}}, .size = 1, .dashed = true}};
  const bool intervals = std::any_of(out.columns[4].numbers.begin(), out.columns[4].numbers.end(),
                                     [](double value) { return !std::isnan(value); });
  out.what = "Difference of the areas under the ROC curves, B \u2212 A, where A is " + names.a +
             " and B is " + names.b + ": below zero B separates the label " + file.label + " less well." +
             drawn.note();
  out.how = (intervals ? "Lines are " + value_text(100 * file.confidence) + " % intervals of " +
                             count_text(file.bootstrap) + " bootstrap samples. "
                       : std::string()) +
            "Beside each name stand the numbers of positive and negative alleles.";
  const ConcordanceLine& all = file.lines[0];
  out.words = "For all alleles together the difference is " + value_text(*all.value("auroc_diff"));
  if (const auto low = all.value("auroc_diff_low"), high = all.value("auroc_diff_high"); low && high)
    out.words += ", with an interval from " + value_text(*low) + " to " + value_text(*high);
  out.words += ".";
  return figure_of(out);
}

void add_classes(const std::string& name, const ConcordanceFile& file, const Names& names, Section& section) {
  if (file.label.empty()) return;
  const ConcordanceLine& all = file.lines[0];
  if (!all.value("auroc_a") || !all.value("auroc_b") || !all.value("auroc_diff")) {
    section.paragraphs.push_back(
        "By the label " + file.label +
        " there are no two classes among the alleles with both scores, so AUROC is undefined.");
    return;
  }
  const Drawn drawn = choose(file, "positive");
  section.parts.push_back(auroc_figure(name, file, names, drawn));
  section.parts.push_back(difference_figure(name, file, names, drawn));
}

void add_bounds(const ConcordanceFile& file, Section& section) {
  if (file.bounds.empty()) return;
  const auto met = static_cast<size_t>(
      std::count_if(file.bounds.begin(), file.bounds.end(), [](const ConcordanceBound& b) { return b.met; }));
  const size_t count = file.bounds.size();
  if (met == count)
    section.paragraphs.push_back(count == 1
                                     ? "The bound that was set is met."
                                     : "All " + std::to_string(count) + " bounds that were set are met.");
  else
    section.paragraphs.push_back(std::to_string(count - met) + " of " + std::to_string(count) +
                                 (count == 1 ? " bound is not met." : " bounds are not met."));
  Table table;
  table.title = "Bounds";
  table.columns = {
      {"Option"}, {"Bound", "", true}, {"Value", "that was measured for all alleles", true}, {"Met"}};
  for (const ConcordanceBound& bound : file.bounds)
    table.rows.push_back(
        {bound.option, six_digits(bound.bound), digits_or_point(bound.value), bound.met ? "yes" : "no"});
  section.parts.push_back(std::move(table));
}

// All strata and fields, but for fields that the file has of no stratum.
Table full_table(const ConcordanceFile& file, const Names& names) {
  Table out;
  out.title = "Agreement of " + names.both;
  out.search = file.lines.size() > 10;
  out.columns = {{file.by.empty() ? "Alleles" : file.by}};
  for (const ConcordanceLine& line : file.lines) out.rows.push_back({line.name});
  for (size_t i = 0; i < concordance_fields().size(); ++i) {
    const ConcordanceField& field = concordance_fields()[i];
    if (std::none_of(file.lines.begin(), file.lines.end(), [&](const auto& line) { return line.values[i]; }))
      continue;
    out.columns.push_back({std::string(field.name), std::string(field.about), true});
    for (size_t row = 0; row < out.rows.size(); ++row) {
      const std::optional<double> value = file.lines[row].values[i];
      out.rows[row].push_back(field.kind == ConcordanceField::count ? whole(value) : digits_or_point(value));
    }
  }
  return out;
}

}  // namespace

Section concordance_section(const std::string& name, const std::string& path, const ReportOptions&) {
  const ConcordanceFile file = read_concordance(path);
  const Names names = names_of(file);
  Section out;
  out.name = name;
  out.title = "Agreement of " + names.both;
  const ConcordanceLine& all = file.lines[0];
  out.paragraphs.push_back(
      "A is " + file.tag_a + " of " + file.file_a + ", B is " + file.tag_b + " of " + file.file_b + ". Of " +
      plural(static_cast<uint64_t>(all.value("alleles").value_or(0)), "allele") + " of the first file, " +
      count_text(static_cast<uint64_t>(all.value("n").value_or(0))) + " have both scores and are compared.");
  out.models.push_back("A is " + names.a + ", B is " + names.b + ".");
  for (const std::string_view key : {"n", "pearson", "spearman"})
    if (const std::optional<double> value = all.value(key))
      out.statistics.push_back(
          {std::string(key), std::string(field_of(key).name), std::string(field_of(key).about) + " of " + names.both, *value});
  out.parts.push_back(correlation_figure(name, file, names));
  add_classes(name, file, names, out);
  add_bounds(file, out);
  out.parts.push_back(full_table(file, names));
  out.provenance = {{"File", file_name(path)},
                    {"A", file.tag_a + " of " + file.file_a},
                    {"B", file.tag_b + " of " + file.file_b}};
  if (!file.by.empty()) out.provenance.emplace_back("Strata by", file.by);
  if (!file.label.empty()) {
    out.provenance.emplace_back("Label", file.label + (file.negated ? ", judged by minus the scores" : ""));
    out.provenance.emplace_back("Bootstrap", count_text(file.bootstrap) + " samples, seed " +
                                                 std::to_string(file.seed) + ", confidence " +
                                                 value_text(file.confidence));
  }
  return out;
}

}  // namespace carbon
