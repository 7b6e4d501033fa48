// The sections of what commands write of many scores in sum: the table of carbon score, that of
// +gene-summary, the JSON of +auroc, and histograms of scan and vep.
#include "src/report/sections/summaries.hpp"

#include <algorithm>
#include <cmath>

#include "src/report/drawing/chart.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

constexpr size_t kText = 60, kLabel = 28;  // letters of a name in a table, and beside a row
constexpr size_t kMostDrawn = 30;          // regions, strata or chromosomes in a figure

// ---- Histograms

// Bins of a hundredth as bins of a picture. Quartiles are known to a hundredth.
ScoreGroup group_of(const HistogramFileCounts::Group& from, const ScoreBins& bins) {
  ScoreGroup out{from.name, 0, {}, {}};
  out.bins.counts.resize(bins.size());
  double sum = 0;
  for (const auto& [bin, count] : from.bins) {
    const double middle = (static_cast<double>(bin) + 0.5) / 100;
    out.bins.counts[static_cast<size_t>(
        std::clamp<int64_t>(bins.find(middle), 0, static_cast<int64_t>(bins.size()) - 1))] += count;
    out.alleles += count;
    sum += middle * static_cast<double>(count);
  }
  out.scores.count = out.alleles;
  if (out.alleles == 0) return out;
  out.scores.mean = sum / static_cast<double>(out.alleles);
  out.scores.least = static_cast<double>(from.bins.begin()->first) / 100;
  out.scores.most = static_cast<double>(from.bins.rbegin()->first + 1) / 100;
  uint64_t before = 0;
  size_t quartile = 0;
  for (const auto& [bin, count] : from.bins) {
    before += count;
    for (; quartile < 3 && 4 * before >= (quartile + 1) * out.alleles; ++quartile)
      out.scores.quartiles[quartile] = (static_cast<double>(bin) + 0.5) / 100;
  }
  return out;
}

void add_histogram(const ScoreFigure& about, const std::string& by, const HistogramFileCounts::Tag& tag,
                   Section& section) {
  HistogramFileCounts::Group all{"all", {}};
  for (const auto& group : tag.groups)
    for (const auto& [bin, count] : group.bins) all.bins[bin] += count;
  const double least = static_cast<double>(all.bins.begin()->first) / 100,
               most = static_cast<double>(all.bins.rbegin()->first + 1) / 100;
  const ScoreBins bins(least, std::max(most, least + 0.6));  // no bin is narrower than a hundredth
  const std::vector<ScoreGroup> one = {group_of(all, bins)};
  std::vector<ScoreGroup> groups;
  for (const auto& group : tag.groups) groups.push_back(group_of(group, bins));
  ScoreFigure whole = about, rows = about;
  whole.name += "_scores";
  rows.name += "_by_" + by;
  if (section.statistics.empty())
    section.statistics = {
        {"scored", "Scored", "Alleles with " + about.tag.name, static_cast<double>(one[0].alleles)},
        {"median", "Median", "Median of " + about.tag.name, one[0].scores.quartiles[1]}};
  section.parts.emplace_back(score_histogram(whole, one[0], bins));
  if (groups.size() > 1 && groups.size() <= kMostDrawn)
    section.parts.emplace_back(score_rows(rows, by, groups, bins));
  section.parts.emplace_back(score_table(about, {{"", &one}, {by, &groups}}));
}

// ---- +auroc

Chart part_chart(const std::string& name, const SeparationFile& data, const std::string& what,
                 const std::vector<SeparationPart>& parts) {
  Chart out;
  out.name = name;
  out.title = "AUROC of " + data.score + " by " + what;
  using Part = SeparationPart;
  // Chromosomes have none, nor has anything without a bootstrap.
  const bool intervals = std::any_of(parts.begin(), parts.end(),
                                     [](const Part& part) { return !std::isnan(part.metrics[0].low); });
  const auto shown = intervals ? ChartColumn::six : ChartColumn::hidden;
  out.columns = columns_of<Part>(
      parts, {{what, "", [](const Part& part) { return cut_text(part.name, kText); }},
              {"Positive", "", &Part::positive, ChartColumn::count},
              {"Negative", "", &Part::negative, ChartColumn::count},
              {"AUROC", "", [](const Part& part) { return part.metrics[0].value; }},
              {"AUROC low", "lower end of the interval", [](const Part& part) { return part.metrics[0].low; },
               shown},
              {"AUROC high", "upper end of the interval",
               [](const Part& part) { return part.metrics[0].high; }, shown},
              {"AUPRC", "", [](const Part& part) { return part.metrics[1].value; }},
              {"Average precision", "", [](const Part& part) { return part.metrics[2].value; }}});
  std::vector<std::string> labels;
  for (const Part& part : parts)
    labels.push_back(cut_text(part.name, kLabel) + " (" + count_text(part.positive) + " / " +
                     count_text(part.negative) + ")");
  out.x = auroc_axis(out, {3, 4});
  out.y = category_axis("", labels);
  out.series = {{.mark = Series::dots, .name = "AUROC", .colour = theme::kLine, .value = 3, .size = 4},
                {.mark = Series::range, .colour = theme::kLine, .value = 5, .low = 4}};
  out.what = "Area under the ROC curve of " + data.score + " for the label " + data.label.expression +
             (data.label.negated ? ", where low scores speak for it" : "") + ", by " + what + ".";
  out.how = "Beside each name stand the numbers of positive and negative alleles" +
            std::string(intervals ? "; lines are intervals." : ".");
  return out;
}

// The last `sums` parts are sums of the others, and always drawn.
void add_parts(const std::string& name, const SeparationFile& data, const std::string& what,
               const std::vector<SeparationPart>& parts, size_t sums, Section& section) {
  std::vector<SeparationPart> known;
  for (const SeparationPart& part : parts)
    if (!std::isnan(part.metrics[0].value)) known.push_back(part);
  const auto first = static_cast<ptrdiff_t>(kMostDrawn - sums);
  if (known.size() > kMostDrawn)
    known.erase(known.begin() + first, known.end() - static_cast<ptrdiff_t>(sums));
  if (known.size() < 2) return;
  Chart chart = part_chart(name, data, what, known);
  const auto [low, high] = std::minmax_element(known.begin(), known.end(), [](const auto& a, const auto& b) {
    return a.metrics[0].value < b.metrics[0].value;
  });
  chart.words = "The lowest is " + value_text(low->metrics[0].value) + ", of " + low->name +
                "; the highest is " + value_text(high->metrics[0].value) + ", of " + high->name + ".";
  if (known.size() < parts.size())
    chart.facts =
        count_text(parts.size() - known.size()) + " of " + count_text(parts.size()) +
        (known.size() + 1 == parts.size() ? " is" : " are") +
        " not drawn: those without an AUROC, which have one class alone or too few alleles of one, and "
        "those after the first " +
        std::to_string(first) + ".";
  section.parts.emplace_back(figure_of(chart));
}

}  // namespace

TextRow texts_of(const SummaryLine& line) {
  TextRow out;
  for (const std::string_view text : line.texts) out.push_back(cut_text(text, kText));
  return out;
}

void add_lowest(Table out, uint64_t count, const std::string& item, const std::string& by, size_t sorted,
                Section& section) {
  if (out.rows.empty()) return;
  out.brief = "Lowest " + by;
  out.title = out.brief + ": " +
              (out.rows.size() < count ? "the " + count_text(out.rows.size()) + " lowest of "
                                       : std::string("all of ")) +
              plural(count, item) + ", the lowest first" +
              (out.rows.size() < count ? " (--top shows more)" : "");
  out.search = out.rows.size() > 10;
  out.sorted = static_cast<int>(sorted);
  section.parts.emplace_back(std::move(out));
}

void add_histogram(const std::string& name, Sample sample, Section& section) {
  std::vector<float> values = sample.values;
  const ScoreBins bins = bins_for(values);
  const ScoreGroup all = score_group("", values, bins);
  section.parts.emplace_back(
      score_histogram({name, section.file, {sample.name, sample.unit}, sample.item}, all, bins));
  section.sample = std::move(sample);
}

Section score_summary_section(const std::string& name, const std::string& path,
                              const ReportOptions& options) {
  std::vector<float> means;
  Lowest<TextRow> lowest(options.top);
  double bases = 0, sum = 0;
  uint64_t without = 0;
  const std::vector<std::string> header = read_summary(path, 8, {4, 5, 6}, [&](const SummaryLine& line) {
    const double mean = line.numbers[2];
    if (std::isnan(mean) || std::isnan(line.numbers[1]) || line.numbers[0] == 0) {
      ++without;
      return;
    }
    bases += line.numbers[0];
    sum += line.numbers[1];
    means.push_back(static_cast<float>(mean));
    if (lowest.takes(mean)) lowest.add(mean, texts_of(line));
  });
  Section out = begin_section(name, path, "scores of sequences", header);
  std::string words = plural(means.size(), "sequence", "has", "have") + " a score";
  if (without > 0) words += "; " + count_text(without) + (without == 1 ? " has none" : " have none");
  if (means.empty()) {
    out.paragraphs.push_back(words + ".");
    return out;
  }
  const double mean = sum / bases;
  out.paragraphs.push_back(words + ". " + count_text(static_cast<uint64_t>(bases)) +
                           " bases are scored, with a mean log-likelihood of " + value_text(mean) +
                           " nats, a perplexity of " + value_text(std::exp(-mean)) + ".");
  out.statistics = {{"bases", "Bases", "Scored bases", bases},
                    {"mean_logp", "Mean ln P", "Mean log-likelihood of a base (nats)", mean},
                    {"perplexity", "Perplexity", "Perplexity of a base", std::exp(-mean)}};
  add_histogram(name + "_scores", {"mean_logp", "nats per base", "sequence", std::move(means), without}, out);
  add_lowest({"",
              {{"Name"},
               {"Start", "of the scored part, from 0", true},
               {"End", "", true},
               {"Strand"},
               {"Scored bases", "", true},
               {"sum_logp", "sum of ln P of the bases, in nats", true},
               {"mean_logp", "mean of ln P of the bases, in nats", true},
               {"Perplexity", "", true}},
              lowest.sorted()},
             lowest.count(), "sequence", "mean_logp", 6, out);
  return out;
}

Section gene_summary_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  struct Region {
    std::string label;
    double least, mean, most;
  };
  std::vector<float> minima;
  Lowest<TextRow> table(options.top);
  Lowest<Region> drawn(kMostDrawn);
  uint64_t without = 0;
  const std::vector<std::string> header = read_summary(path, 10, {5, 7, 8, 9}, [&](const SummaryLine& line) {
    const double least = line.numbers[1];
    if (std::isnan(least) || std::isnan(line.numbers[2]) || std::isnan(line.numbers[3])) {
      ++without;
      return;
    }
    minima.push_back(static_cast<float>(least));
    if (table.takes(least)) table.add(least, texts_of(line));
    if (drawn.takes(least))
      drawn.add(least, {cut_text(line.texts[3], kLabel) + ", n = " + std::string(line.texts[5]), least,
                        line.numbers[2], line.numbers[3]});
  });
  Section out = begin_section(name, path, "scores by region", header);
  out.paragraphs.push_back(
      plural(minima.size(), "region", "has", "have") + " alleles with a score" +
      (without > 0 ? ". Left out, because they have none: " + count_text(without) + "." : "."));
  if (minima.empty()) return out;
  Chart chart;
  chart.name = name + "_lowest";
  chart.title = "Regions with the lowest minimum";
  chart.columns = columns_of<Region>(drawn.sorted(), {{"Region", "", &Region::label},
                                                      {"Minimum", "", &Region::least},
                                                      {"Mean", "", &Region::mean},
                                                      {"Maximum", "", &Region::most}});
  const auto [least, most] = ends_of(chart, {1, 2, 3}, 0, 0);
  chart.x = round_axis("Score", least, most);
  chart.y = category_axis("", chart.columns[0].texts);
  chart.series = {
      {.mark = Series::dots, .name = "mean", .colour = theme::kLine, .value = 2, .size = 4},
      {.mark = Series::range, .legend = "minimum to maximum", .colour = theme::kLine, .value = 3, .low = 1}};
  chart.what = "Mean score of the alleles in each region, of the " + count_text(chart.columns[0].size()) +
               " with the lowest minimum; n is the number of alleles with a score.";
  chart.how = "Lines reach from the minimum to the maximum.";
  chart.words = "The lowest score is " + value_text(chart.columns[1].numbers[0]) + ".";
  out.statistics = {{"regions", "Regions", "Regions with scores", static_cast<double>(minima.size())},
                    {"minimum", "Minimum", "Lowest score", chart.columns[1].numbers[0]}};
  out.parts.emplace_back(figure_of(chart));
  add_histogram(name + "_minima", {"minimum", "", "region", std::move(minima), without}, out);
  add_lowest({"",
              {{"Contig"},
               {"Start", "from 0", true},
               {"End", "", true},
               {"Name"},
               {"Strand"},
               {"Alleles", "with a score", true},
               {"Missing", "alleles without a score", true},
               {"Minimum", "", true},
               {"Mean", "", true},
               {"Maximum", "", true}},
              table.sorted()},
             table.count(), "region", "minimum", 7, out);
  return out;
}

Section separation_section(const std::string& name, const std::string& path, const ReportOptions&) {
  const SeparationFile data = read_separation(path);
  Section out =
      begin_section(name, path, "how well " + data.score + " separates " + data.label.expression, {});
  add_parts(name + "_strata", data, data.by, data.strata, 2, out);  // macro and pooled
  add_parts(name + "_chromosomes", data, "chromosome", data.chromosomes, 0, out);
  out.parts.emplace_back(measure_table(data.score, data.label.expression, data.metrics, data.counts));
  for (const auto& [key, name_of, metric] : data.metrics)
    if (!std::isnan(metric.value))
      out.statistics.push_back(
          {key, name_of, name_of + " of " + data.score + " for " + data.label.expression, metric.value});
  out.provenance.emplace_back("Score", data.score);
  add_label_provenance(data.label, "score", out);
  return out;
}

Section histogram_section(const std::string& name, const std::string& path, const ReportOptions&) {
  const HistogramFileCounts data = read_histogram(path);
  Section out = begin_section(name, path, "histogram of scores", data.header);
  out.paragraphs.push_back(
      "The file counts scores in bins of a hundredth. Means and quartiles are those of the middles of these "
      "bins, and minima and maxima are edges.");
  const std::vector<std::string> parts = figure_parts(data.tags, &HistogramFileCounts::Tag::name);
  for (size_t t = 0; t < parts.size(); ++t)
    add_histogram({name + parts[t], out.file, {cut_text(data.tags[t].name, kText), "nats"}},
                  data.tags[t].name == "CARBON_SCAN" ? "substitution" : "type", data.tags[t], out);
  if (parts.empty()) out.paragraphs.push_back("The histogram counts no allele.");
  return out;
}

}  // namespace carbon
