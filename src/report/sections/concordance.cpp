// Draws what +concord measured: correlations of two scores in strata, how well each separates labels, and
// whether bounds are met.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "src/base/words.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/concordance.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kMostDrawn = 30, kLongestName = 22;
constexpr double kLineHeight = 30, kWidth = 640;

std::string digits_or_point(std::optional<double> value) {
  return value ? six_digits(*value) : ".";
}

std::string whole(std::optional<double> value) {
  return value ? std::to_string(static_cast<uint64_t>(*value)) : ".";
}

// What the figures draw of a file: all alleles and the strata with the most pairs, in the order of the file.
struct Drawn {
  std::vector<const ConcordanceLine*> lines;
  size_t left_out = 0;

  std::string note() const {
    return left_out == 0 ? ""
                         : " Of all strata, the " + std::to_string(lines.size() - 1) +
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

std::string bars_of(const Figure& figure, const std::string& label, const Drawn& drawn,
                    const std::vector<std::pair<std::string, std::string_view>>& series) {
  nlohmann::ordered_json out = multiqc_plot("bargraph", figure.name, "carbon: " + figure.title, "", label);
  out["pconfig"].update({{"cpswitch", false}, {"stacking", "group"}});
  nlohmann::ordered_json data = nlohmann::ordered_json::object();
  for (const ConcordanceLine* line : drawn.lines) {
    nlohmann::ordered_json bars = nlohmann::ordered_json::object();
    for (const auto& [name, key] : series)
      if (const std::optional<double> value = line->value(key)) bars[name] = *value;
    if (!bars.empty()) data[line->name] = std::move(bars);
  }
  if (data.empty()) return "";
  out["data"] = std::move(data);
  return json_text(out);
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

Table stratum_table(const ConcordanceFile& file, const std::string& title, const Drawn& drawn,
                    const std::vector<std::string_view>& keys) {
  Table out;
  out.title = title;
  out.columns = {{file.by.empty() ? "Alleles" : file.by, ""}};
  for (const ConcordanceField& field : concordance_fields())
    if (std::find(keys.begin(), keys.end(), field.key) != keys.end())
      out.columns.push_back({std::string(field.key), std::string(field.about), true});
  for (const ConcordanceLine* line : drawn.lines) {
    auto& row = out.rows.emplace_back();
    row.push_back(line->name);
    for (size_t i = 0; i < concordance_fields().size(); ++i) {
      const ConcordanceField& field = concordance_fields()[i];
      if (std::find(keys.begin(), keys.end(), field.key) == keys.end()) continue;
      row.push_back(field.kind == ConcordanceField::count ? whole(line->values[i])
                                                          : digits_or_point(line->values[i]));
    }
  }
  return out;
}

Figure correlation_figure(const std::string& name, const ConcordanceFile& file, const Names& names) {
  const Drawn drawn = choose(file, "n");
  const std::vector<std::pair<std::string, std::string_view>> series = {{"Pearson", "pearson"},
                                                                        {"Spearman", "spearman"}};
  bool negative = false;
  std::vector<std::string> counts;
  for (const ConcordanceLine* line : drawn.lines) {
    counts.push_back("n = " + count_text(static_cast<uint64_t>(line->value("n").value_or(0))));
    for (const auto& [_, key] : series) negative |= line->value(key).value_or(0) < 0;
  }
  Figure out;
  out.name = name + "_correlations";
  out.title = "Correlation of " + names.both;
  Plot plot(out.title, kWidth, 110 + kLineHeight * static_cast<double>(drawn.lines.size()),
            {"Correlation", negative ? -1.0 : 0.0, 1, false, {}}, name_axis(drawn, counts));
  plot.legend(std::vector<LegendEntry>{{"Pearson", theme::kSeries[0]}, {"Spearman", theme::kSeries[1]}});
  for (size_t i = 0; i < drawn.lines.size(); ++i)
    for (size_t s = 0; s < series.size(); ++s)
      if (const std::optional<double> value = drawn.lines[i]->value(series[s].second)) {
        const double middle = static_cast<double>(i) + (s == 0 ? -0.18 : 0.18);
        plot.bar(0, *value, middle - 0.16, middle + 0.16, theme::kSeries[s]);
      }
  out.svg = plot.picture();
  const ConcordanceLine& all = file.lines[0];
  out.caption = "Pearson and Spearman rank correlation of " + names.both + " for all alleles" +
                (file.lines.size() > 1 ? " and for each " + file.by : std::string()) +
                "; n is the number of alleles with both scores." + drawn.note();
  if (const auto pearson = all.value("pearson"), spearman = all.value("spearman"); pearson && spearman)
    out.words = "For all alleles together Pearson's correlation is " + value_text(*pearson) +
                " and Spearman's " + value_text(*spearman) + ".";
  else
    out.words =
        "For all alleles together the correlations are undefined, because one score has the same value for "
        "all.";
  out.numbers = stratum_table(file, "", drawn, {"n", "pearson", "spearman"});
  out.multiqc = bars_of(out, "Correlation", drawn, series);
  return out;
}

std::string class_counts(const ConcordanceLine& line) {
  return count_text(static_cast<uint64_t>(line.value("positive").value_or(0))) + " / " +
         count_text(static_cast<uint64_t>(line.value("negative").value_or(0)));
}

std::vector<std::string> all_class_counts(const Drawn& drawn) {
  std::vector<std::string> out;
  for (const ConcordanceLine* line : drawn.lines) out.push_back(class_counts(*line));
  return out;
}

Figure auroc_figure(const std::string& name, const ConcordanceFile& file, const Names& names,
                    const Drawn& drawn) {
  Figure out;
  out.name = name + "_auroc";
  out.title = "AUROC of " + names.both;
  double least = 0.5;
  for (const ConcordanceLine* line : drawn.lines)
    for (const std::string_view key : {"auroc_a", "auroc_b"})
      least = std::min(least, line->value(key).value_or(1));
  Plot plot(out.title, kWidth, 110 + kLineHeight * static_cast<double>(drawn.lines.size()),
            {"AUROC", least < 0.5 ? 0.0 : 0.5, 1, false, {}}, name_axis(drawn, all_class_counts(drawn)));
  plot.legend(std::vector<LegendEntry>{{names.a, theme::kSeries[0], LegendEntry::circle},
                                       {names.b, theme::kSeries[1], LegendEntry::circle}});
  std::vector<Point> a, b;
  for (size_t i = 0; i < drawn.lines.size(); ++i) {
    const auto at = static_cast<double>(i);
    const auto of_a = drawn.lines[i]->value("auroc_a"), of_b = drawn.lines[i]->value("auroc_b");
    if (!of_a || !of_b) continue;
    a.push_back({*of_a, at});
    b.push_back({*of_b, at});
    plot.line(std::vector<Point>{a.back(), b.back()}, theme::kReference, 2);
  }
  plot.dots(a, theme::kSeries[0], 4.5, 1);
  plot.dots(b, theme::kSeries[1], 4.5, 1);
  out.svg = plot.picture();
  out.caption = "Area under the ROC curve of " + names.a + " and " + names.b + " for the label " +
                file.label + (file.negated ? ", where low scores speak for it" : "") +
                ". Beside each name stand the numbers of positive and negative alleles." + drawn.note();
  const ConcordanceLine& all = file.lines[0];
  out.words = "For all alleles together it is " + value_text(*all.value("auroc_a")) + " for " + names.a +
              " and " + value_text(*all.value("auroc_b")) + " for " + names.b + ".";
  out.numbers = stratum_table(file, "", drawn, {"positive", "negative", "auroc_a", "auroc_b"});
  out.multiqc = bars_of(out, "AUROC", drawn, {{names.a, "auroc_a"}, {names.b, "auroc_b"}});
  return out;
}

Figure difference_figure(const std::string& name, const ConcordanceFile& file, const Names& names,
                         const Drawn& drawn) {
  Figure out;
  out.name = name + "_auroc_difference";
  out.title = "AUROC of " + names.b + " \u2212 AUROC of " + names.a;
  double least = 0, most = 0;
  for (const ConcordanceLine* line : drawn.lines)
    for (const std::string_view key : {"auroc_diff", "auroc_diff_low", "auroc_diff_high"}) {
      least = std::min(least, line->value(key).value_or(0));
      most = std::max(most, line->value(key).value_or(0));
    }
  const Axis x = round_axis("Difference of AUROC", least, most),
             y = name_axis(drawn, all_class_counts(drawn));
  Plot plot(out.title, kWidth, 90 + kLineHeight * static_cast<double>(drawn.lines.size()), x, y);
  const auto strata = static_cast<double>(drawn.lines.size());
  plot.line(std::vector<Point>{{0, -0.5}, {0, strata - 0.5}}, theme::kSoft, 1, true);
  std::vector<Point> dots;
  bool intervals = false;
  for (size_t i = 0; i < drawn.lines.size(); ++i) {
    const auto at = static_cast<double>(i);
    const ConcordanceLine& line = *drawn.lines[i];
    if (const auto low = line.value("auroc_diff_low"), high = line.value("auroc_diff_high"); low && high) {
      plot.line(std::vector<Point>{{*low, at}, {*high, at}}, theme::kLine, 2);
      intervals = true;
    }
    if (const auto difference = line.value("auroc_diff")) dots.push_back({*difference, at});
  }
  plot.dots(dots, theme::kLine, 4, 1);
  out.svg = plot.picture();
  out.caption = "Difference of the areas under the ROC curves, B \u2212 A, where A is " + names.a +
                " and B is " + names.b + ": left of the dashed line B separates the label " + file.label +
                " less well." +
                (intervals ? " Lines are " + value_text(100 * file.confidence) + " % intervals of " +
                                 count_text(file.bootstrap) + " bootstrap samples."
                           : std::string()) +
                " Beside each name stand the numbers of positive and negative alleles." + drawn.note();
  const ConcordanceLine& all = file.lines[0];
  out.words = "For all alleles together the difference is " + value_text(*all.value("auroc_diff"));
  if (const auto low = all.value("auroc_diff_low"), high = all.value("auroc_diff_high"); low && high)
    out.words += ", with an interval from " + value_text(*low) + " to " + value_text(*high);
  out.words += ".";
  out.numbers = stratum_table(file, "", drawn,
                              {"positive", "negative", "auroc_diff", "auroc_diff_low", "auroc_diff_high"});
  out.multiqc = bars_of(out, "Difference of AUROC", drawn, {{"difference", "auroc_diff"}});
  return out;
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

Table full_table(const ConcordanceFile& file, const Names& names) {
  Drawn all;
  for (const ConcordanceLine& line : file.lines) all.lines.push_back(&line);
  std::vector<std::string_view> keys;
  for (const ConcordanceField& field : concordance_fields())
    if (!field.labelled || !file.label.empty()) keys.push_back(field.key);
  Table out = stratum_table(file, "Agreement of " + names.both, all, keys);
  out.search = file.lines.size() > 10;
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
