// The section of a file of carbon embed: points along principal components, coloured by a column of a table,
// and how much of the variance each component explains.
#include <algorithm>
#include <cmath>

#include "src/report/drawing/chart.hpp"
#include "src/report/sections/embedding_points.hpp"
#include "src/report/sections/sections.hpp"

namespace carbon {
namespace {

constexpr size_t kComponents = 10, kMostPoints = 20'000;
constexpr size_t kMostMultiqcPoints = 2000;  // a page of MultiQC has an element for each
constexpr size_t kMostGroupRows = 500;
constexpr size_t kColours = theme::kSeries.size(), kSteps = 48;  // of a scale, which are too fine to be seen
constexpr size_t kLongestName = 28;
constexpr double kOpacity = 0.7;

std::string component_name(size_t component) {
  return "PC" + std::to_string(component + 1);
}

double share(const EmbeddingPoints& data, size_t component) {
  return 100 * data.pca.variances[component] / data.pca.total;
}

std::string axis_name(const EmbeddingPoints& data, size_t component) {
  return component_name(component) + " (" + value_text(share(data, component)) + " % of the variance)";
}

// From the colour of low numbers to that of high ones, which differ in hue and in lightness.
std::vector<std::string> scale_colours() {
  std::vector<std::string> out;
  for (size_t step = 0; step < kSteps; ++step)
    out.push_back(
        mix_colours("#c98500", "#0c3c74", static_cast<double>(step) / static_cast<double>(kSteps - 1)));
  return out;
}

// The series of points that look alike: of all points, of groups, or of steps of a scale. The largest groups
// are drawn first, and points without a value before them, so that none hides a small group.
class Looks {
 public:
  Looks(const EmbeddingPoints& data, const std::string& colour) : data_(data) {
    if (!data.coloured)
      add("sequences", theme::kSeries[0], Marker::circle, 2.8, false);
    else if (data.numeric)
      add_steps(colour);
    else
      add_groups();
    if (data.coloured && data.without.rows > 0) {
      add("no value", theme::kReference, Marker::circle, 2);
      series_.back().layer = -1;
    }
    for (size_t i = 0; i < data.points.size(); ++i) series_[look_of(data.points[i])].rows->push_back(i);
    for (Series& one : series_)
      if (one.in_legend)
        one.legend = cut_text(one.name, kLongestName) + " (" + count_text(one.rows->size()) + ")";
  }

  const std::vector<Series>& series() const { return series_; }
  /// The groups that share one look.
  bool others() const { return !data_.numeric && data_.groups.size() > kColours; }
  bool scaled() const { return steps_ > 0; }
  void draw_scale(Plot& plot, const std::string& name) const {
    plot.colour_scale(name, least_, most_, {colours_.data(), steps_});
  }

 private:
  void add(const std::string& name, std::string_view colour, Marker marker, double radius,
           bool in_legend = true) {
    series_.push_back({.mark = Series::dots,
                       .name = name,
                       .colour = colour,
                       .value = 2,
                       .rows = std::vector<size_t>(),
                       .size = radius,
                       .opacity = kOpacity,
                       .marker = marker,
                       .layer = static_cast<int>(series_.size()),
                       .in_legend = in_legend});
  }

  void add_groups() {
    for (size_t i = 0; i < std::min(data_.groups.size(), kColours); ++i)
      add(data_.groups[i].name, theme::kSeries[i], kMarkers[i], 2.8);
    if (others()) add("other", theme::kInk, Marker::circle, 1.6);
  }

  void add_steps(const std::string& name) {
    std::vector<double> numbers;
    for (const EmbeddingPoint& point : data_.points)
      if (point.group != kNoGroup) numbers.push_back(point.number);
    if (numbers.empty()) return;
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    least_ = *least, most_ = *most;
    width_ = (most_ - least_) / static_cast<double>(kSteps);
    if (!std::isfinite(width_)) width_ = 0;
    steps_ = width_ > 0 ? kSteps : 1;
    for (size_t i = 0; i < steps_; ++i) add(name, colours_[i], Marker::circle, 2.8, false);
  }

  size_t look_of(const EmbeddingPoint& point) const {
    if (!data_.coloured) return 0;
    if (point.group == kNoGroup) return series_.size() - 1;
    if (!data_.numeric) return std::min(point.group, kColours);
    if (!(width_ > 0)) return 0;
    return std::min(static_cast<size_t>((point.number - least_) / width_), kSteps - 1);
  }

  const EmbeddingPoints& data_;
  const std::vector<std::string> colours_ = scale_colours();
  std::vector<Series> series_;
  size_t steps_ = 0;
  double least_ = 0, most_ = 0, width_ = 0;
};

// Of a point that has a value.
std::string value_name(const EmbeddingPoints& data, const EmbeddingPoint& point) {
  return data.numeric ? six_digits(point.number) : data.groups[point.group].name;
}

std::string scatter_caption(const EmbeddingPoints& data) {
  return std::string(data.rows == data.sequences ? "Each point is a sequence."
                                                 : "Each point is a row of a sequence, one for each 6-mer.") +
         " Axes have the unit of the embedding's values; components are of the covariance of its columns, "
         "without scaling.";
}

std::string drawn_caption(const EmbeddingPoints& data) {
  if (data.points.size() < data.rows)
    return plural(data.points.size(), "point") + " are drawn, an even sample of " + count_text(data.rows) +
           ".";
  return plural(data.rows, "point", "is", "are") + " drawn.";
}

std::string colour_caption(const EmbeddingPoints& data, const Looks& looks, const std::string& colour) {
  if (!data.coloured) return "";
  std::string out =
      looks.scaled() ? "Colours show the number in column " + colour + "."
                     : "Colours and shapes show column " + colour + "; the legend has the number of points.";
  if (const size_t others = looks.others() ? data.groups.size() - kColours : 0; others > 0)
    out += others == 1 ? " The smallest group is shown as other."
                       : " The smaller groups, " + count_text(others) + ", are shown as other.";
  return out;
}

// Two components.
Figure scatter_figure(const std::string& name, const EmbeddingPoints& data, const Looks& looks,
                      const std::string& colour, size_t x, size_t y) {
  using P = EmbeddingPoint;
  std::vector<Field<P>> fields = {
      {"Sequence", "", &P::name},
      {component_name(x), "in units of the values", [x](const P& point) { return point.at[x]; }},
      {component_name(y), "in units of the values", [y](const P& point) { return point.at[y]; }}};
  if (data.coloured)
    fields.push_back({colour, "", [&](const P& point) -> Cell {
                        if (data.numeric) return point.group == kNoGroup ? NAN : point.number;
                        return point.group == kNoGroup ? "." : value_name(data, point);
                      }});
  std::vector<ChartColumn> columns = columns_of(data.points, fields);
  std::vector<std::string> tips;
  for (const P& point : data.points) {
    std::string& tip = tips.emplace_back(cut_text(point.name, 60));
    if (data.coloured)
      tip += "\n" + cut_text(colour, kLongestName) + ": " +
             (point.group == kNoGroup ? "no value" : cut_text(value_name(data, point), 60));
  }
  Chart out{.name = name + "_pc" + std::to_string(x + 1) + "_pc" + std::to_string(y + 1),
            .title = "Principal components " + std::to_string(x + 1) + " and " + std::to_string(y + 1),
            .width = 700,
            .height = 560,
            .x = value_axis(axis_name(data, x), columns[1].numbers),
            .y = value_axis(axis_name(data, y), columns[2].numbers),
            .columns = std::move(columns),
            .series = looks.series(),
            .x_column = 1,
            .what = scatter_caption(data),
            .how = sentences({drawn_caption(data), colour_caption(data, looks, colour)}),
            .words = component_name(x) + " explains " + value_text(share(data, x)) +
                     " % of the variance of the embeddings, and " + component_name(y) + " " +
                     value_text(share(data, y)) + " %.",
            .tips = std::move(tips),
            .row = "point",
            .most_multiqc = kMostMultiqcPoints};
  if (looks.scaled())
    out.prepare = [&](Plot& plot) { looks.draw_scale(plot, cut_text(colour, kLongestName)); };
  return figure_of(out);
}

Figure scree_figure(const std::string& name, const EmbeddingPoints& data) {
  double all = 0;
  Chart out{
      .name = name + "_scree",
      .title = "Variance explained by each component",
      .width = 700,
      .height = 320,
      .y = round_axis("Percent of the variance", 0, 1.08 * share(data, 0)),
      .columns = columns_of<size_t>(
          numbers_to(data.pca.components.size()),
          {{"Component", "", component_name},
           {"Percent of the variance", "", [&](size_t k) { return share(data, k); }},
           {"together", "percent, with all before it", [&](size_t k) { return all += share(data, k); }},
           {"Variance", "in squared units of the values", [&](size_t k) { return data.pca.variances[k]; }}}),
      .series = {{.mark = Series::bars, .name = "percent of the variance", .value = 1}}};
  out.x = category_axis("", out.columns[0].texts);
  out.what = "Percent of the variance of " + plural(data.rows, "row") + " that each component explains, " +
             count_text(out.x.names.size()) + " of them, the largest first.";
  out.facts = "Together they explain " + value_text(all) + " %.";
  out.words = "The first component explains " + value_text(share(data, 0)) +
              " % of the variance, and all that are shown " + value_text(all) + " %.";
  return figure_of(out);
}

Table group_table(const EmbeddingPoints& data, const std::string& colour) {
  const size_t shown = data.numeric ? 0 : std::min(data.groups.size(), kMostGroupRows);
  std::vector<EmbeddingGroup> rows(data.groups.begin(), data.groups.begin() + static_cast<ptrdiff_t>(shown));
  EmbeddingGroup rest{data.numeric ? "a number" : plural(data.groups.size() - shown, "further group")};
  for (size_t i = shown; i < data.groups.size(); ++i) {
    rest.sequences += data.groups[i].sequences;
    rest.rows += data.groups[i].rows;
  }
  if (data.numeric || shown < data.groups.size()) rows.push_back(rest);
  if (data.without.sequences > 0) rows.push_back({"no value", data.without.sequences, data.without.rows});
  std::vector<Field<EmbeddingGroup>> fields = {
      {colour, "", &EmbeddingGroup::name},
      {"Sequences", "", &EmbeddingGroup::sequences, ChartColumn::grouped}};
  if (data.rows != data.sequences)
    fields.push_back(
        {"Rows", "of these sequences, one for each 6-mer", &EmbeddingGroup::rows, ChartColumn::grouped});
  return table_of("Sequences by " + colour, rows, fields);
}

std::vector<std::string> paragraphs_of(const EmbeddingPoints& data) {
  std::vector<std::string> out = {"The file has " + plural(data.rows, "row") + " of " +
                                  plural(data.file.columns, "column") + " for " +
                                  plural(data.sequences, "sequence") + "."};
  if (data.pca.components.empty())
    out.push_back(data.rows < 2
                      ? "Nothing is drawn, because directions in which rows differ need two rows at least."
                      : "Nothing is drawn, because all rows are equal.");
  if (data.pca.components.size() == 1)
    out.push_back("The rows differ in one direction only, so there is no plane to draw them in.");
  if (data.pca.residual > 1e-8)
    out.push_back(
        "The components are those of an iteration that had not come to rest: they are off by about " +
        value_text(data.pca.residual) + " of the largest variance.");
  if (data.unused > 0)
    out.push_back(plural(data.unused, "name") + " of the table of groups " +
                  (data.unused == 1 ? "is" : "are") + " not among the embedded sequences.");
  return out;
}

}  // namespace

Section embedding_section(const std::string& name, const std::string& path, const ReportOptions& options) {
  const EmbeddingPoints data = read_points(path, options, kComponents, kMostPoints);
  Section section = begin_section(name, path, "embeddings", data.file.header);
  section.paragraphs = paragraphs_of(data);
  section.statistics = {{"sequences", "Sequences", "Embedded sequences", static_cast<double>(data.sequences)},
                        {"rows", "Rows", "Rows of the embeddings", static_cast<double>(data.rows)}};
  const Looks looks(data, options.colour);
  for (size_t first = 0; first < 4 && first + 1 < data.pca.components.size(); first += 2)
    section.parts.emplace_back(scatter_figure(name, data, looks, options.colour, first, first + 1));
  if (!data.pca.components.empty()) section.parts.emplace_back(scree_figure(name, data));
  if (data.coloured) section.parts.emplace_back(group_table(data, options.colour));
  section.provenance.insert(section.provenance.end(), {{"Format", data.file.format},
                                                       {"Rows", count_text(data.rows)},
                                                       {"Columns", count_text(data.file.columns)}});
  if (!data.file.names_path.empty()) section.provenance.emplace_back("Names", data.file.names_path);
  if (data.coloured) section.provenance.emplace_back("Table of groups", options.groups);
  return section;
}

}  // namespace carbon
