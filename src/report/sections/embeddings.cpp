// The section of a file of carbon embed: points along principal components, coloured by a column of a table,
// and how much of the variance each component explains.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sections/embedding_points.hpp"
#include "src/report/sections/sections.hpp"
#include "src/report/sources/input.hpp"

namespace carbon {
namespace {

using nlohmann::ordered_json;

constexpr size_t kComponents = 10, kMostPoints = 20'000;
constexpr size_t kMostNumbers = 500;         // rows of the table of a figure
constexpr size_t kMostMultiqcPoints = 2000;  // a page of MultiQC has an element for each
constexpr size_t kMostGroupRows = 500;
constexpr size_t kColours = theme::kSeries.size(), kSteps = 48;  // of a scale, which are too fine to be seen
constexpr size_t kLongestName = 28;
constexpr size_t kMostTips = 5000;  // points that say what they are
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

// Points that are drawn alike.
struct Look {
  std::string name;
  std::string colour;
  Marker marker = Marker::circle;
  double radius = 2.8;
};

// From the colour of low numbers to that of high ones, which differ in hue and in lightness.
std::string step_colour(size_t step) {
  constexpr double low[] = {0xc9, 0x85, 0x00}, high[] = {0x0c, 0x3c, 0x74};
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "#";
  for (int i = 0; i < 3; ++i) {
    const double part = static_cast<double>(step) / static_cast<double>(kSteps - 1);
    const auto value = static_cast<unsigned>(std::lround(low[i] + part * (high[i] - low[i])));
    out += digits[value >> 4];
    out += digits[value & 15];
  }
  return out;
}

// How points look, and which look each point has.
class Looks {
 public:
  explicit Looks(const EmbeddingPoints& data) : data_(data) {
    if (!data.coloured) {
      looks_.push_back({"", std::string(theme::kSeries[0])});
      return;
    }
    if (data.numeric)
      add_steps();
    else
      add_groups();
    if (data_.without.rows > 0)
      looks_.push_back({"no value", std::string(theme::kReference), Marker::circle, 2});
  }

  const std::vector<Look>& looks() const { return looks_; }
  /// The groups that share one look.
  bool others() const { return !data_.numeric && data_.groups.size() > kColours; }

  bool scaled() const { return steps_ > 0; }
  double least() const { return least_; }
  double most() const { return most_; }
  /// Of a scale, from low to high; without those that have no value.
  std::vector<std::string> scale() const {
    std::vector<std::string> out;
    for (const Look& look : looks_)
      if (out.size() < steps_) out.push_back(look.colour);
    return out;
  }

  size_t of(const EmbeddingPoint& point) const {
    if (!data_.coloured) return 0;
    if (point.group == kNoGroup) return looks_.size() - 1;
    if (!data_.numeric) return std::min(point.group, kColours);
    if (!(width_ > 0)) return 0;
    return std::min(static_cast<size_t>((point.number - least_) / width_), kSteps - 1);
  }

 private:
  void add_groups() {
    for (size_t i = 0; i < std::min(data_.groups.size(), kColours); ++i)
      looks_.push_back({data_.groups[i].name, std::string(theme::kSeries[i]), kMarkers[i]});
    if (others()) looks_.push_back({"other", std::string(theme::kInk), Marker::circle, 1.6});
  }

  void add_steps() {
    bool first = true;
    for (const EmbeddingPoint& point : data_.points) {
      if (point.group == kNoGroup) continue;
      least_ = first ? point.number : std::min(least_, point.number);
      most_ = first ? point.number : std::max(most_, point.number);
      first = false;
    }
    width_ = (most_ - least_) / static_cast<double>(kSteps);
    if (!std::isfinite(width_)) width_ = 0;
    if (first) return;
    steps_ = width_ > 0 ? kSteps : 1;
    for (size_t i = 0; i < steps_; ++i) looks_.push_back({"", step_colour(i)});
  }

  const EmbeddingPoints& data_;
  std::vector<Look> looks_;
  size_t steps_ = 0;
  double least_ = 0, most_ = 0, width_ = 0;
};

Axis axis_of(const EmbeddingPoints& data, size_t component) {
  double least = 0, most = 0;
  for (const EmbeddingPoint& point : data.points) {
    least = std::min(least, point.at[component]);
    most = std::max(most, point.at[component]);
  }
  return round_axis(axis_name(data, component), least, most);
}

std::string value_name(const EmbeddingPoints& data, const EmbeddingPoint& point) {
  if (point.group == kNoGroup) return "";
  return data.numeric ? six_digits(point.number) : data.groups[point.group].name;
}

// One figure of two components.
class Scatter {
 public:
  Scatter(const EmbeddingPoints& data, const Looks& looks, const std::string& colour, size_t first)
      : data_(data), looks_(looks), colour_(colour), x_(first), y_(first + 1) {}

  Figure figure(const std::string& name) const {
    Figure figure;
    figure.name = name + "_pc" + std::to_string(x_ + 1) + "_pc" + std::to_string(y_ + 1);
    figure.title = "Principal components " + std::to_string(x_ + 1) + " and " + std::to_string(y_ + 1);
    figure.svg = picture(figure.title, figure.points);
    figure.caption = caption();
    figure.words = component_name(x_) + " explains " + value_text(share(data_, x_)) +
                   " % of the variance of the embeddings, and " + component_name(y_) + " " +
                   value_text(share(data_, y_)) + " %.";
    figure.numbers = numbers();
    figure.multiqc = multiqc(figure.name, figure.title);
    return figure;
  }

 private:
  std::string picture(const std::string& title, std::vector<FigurePoint>& tips) const {
    Plot plot(title, 700, 560, axis_of(data_, x_), axis_of(data_, y_));
    std::vector<std::vector<Point>> points(looks_.looks().size());
    for (const EmbeddingPoint& point : data_.points)
      points[looks_.of(point)].push_back({point.at[x_], point.at[y_]});
    add_legend(plot, points);
    // The largest groups are drawn first, and points without a value before them, so that none hides a small
    // group.
    for (size_t i = 0; i < points.size(); ++i) {
      const size_t at = i == 0 ? points.size() - 1 : i - 1;
      const Look& look = looks_.looks()[at];
      if (look.marker == Marker::circle)
        plot.dots(points[at], look.colour, look.radius, kOpacity);
      else
        plot.points(points[at], look.marker, look.colour, look.radius, kOpacity);
    }
    if (data_.points.size() <= kMostTips)
      for (const EmbeddingPoint& point : data_.points)
        tips.push_back({plot.x(point.at[x_]), plot.y(point.at[y_]), words_of(point)});
    return plot.picture();
  }

  // A scale for numbers, else an entry for each look.
  void add_legend(Plot& plot, const std::vector<std::vector<Point>>& points) const {
    if (!data_.coloured) return;
    if (looks_.scaled())
      plot.colour_scale(shortened(colour_, kLongestName), looks_.least(), looks_.most(), looks_.scale());
    std::vector<LegendEntry> entries;
    for (size_t i = 0; i < points.size(); ++i) {
      const Look& look = looks_.looks()[i];
      if (look.name.empty()) continue;
      entries.push_back(
          {.name = shortened(look.name, kLongestName) + " (" + count_text(points[i].size()) + ")",
           .colour = look.colour,
           .mark = LegendEntry::shape,
           .marker = look.marker,
           .opacity = kOpacity});
    }
    plot.legend(entries);
  }

  std::string words_of(const EmbeddingPoint& point) const {
    std::string out = shortened(point.name, 60);
    if (data_.coloured)
      out += "\n" + shortened(colour_, kLongestName) + ": " +
             (point.group == kNoGroup ? "no value" : shortened(value_name(data_, point), 60));
    return out;
  }

  std::string caption() const {
    std::string out = data_.rows == data_.sequences
                          ? "Each point is a sequence."
                          : "Each point is a row of a sequence, one for each 6-mer.";
    if (data_.points.size() < data_.rows)
      out += " " + plural(data_.points.size(), "point") + " are drawn, an even sample of " +
             count_text(data_.rows) + ".";
    else
      out += " " + plural(data_.rows, "point") + (data_.rows == 1 ? " is" : " are") + " drawn.";
    out +=
        " Axes have the unit of the embedding's values; components are of the covariance of its columns, "
        "without scaling.";
    if (data_.coloured) {
      out += looks_.scaled()
                 ? " Colours show the number in column " + colour_ + "."
                 : " Colours and shapes show column " + colour_ + "; the legend has the number of points.";
      if (looks_.others())
        out += " The " + plural(data_.groups.size() - kColours, "smaller group") + " are shown as other.";
    }
    return out;
  }

  // An even sample of the points.
  std::vector<const EmbeddingPoint*> some(size_t most) const {
    std::vector<const EmbeddingPoint*> out;
    const size_t n = data_.points.size(), count = std::min(n, most);
    for (size_t i = 0; i < count; ++i) out.push_back(&data_.points[i * n / count]);
    return out;
  }

  Table numbers() const {
    Table table;
    if (data_.points.size() > kMostNumbers)
      table.title =
          "An even sample of " + count_text(kMostNumbers) + " of " + plural(data_.points.size(), "point");
    table.columns = {{"Sequence"},
                     {component_name(x_), "in units of the values", true},
                     {component_name(y_), "in units of the values", true}};
    if (data_.coloured) table.columns.push_back({colour_, "", data_.numeric});
    for (const EmbeddingPoint* point : some(kMostNumbers)) {
      std::vector<std::string> row = {point->name, six_digits(point->at[x_]), six_digits(point->at[y_])};
      if (data_.coloured) row.push_back(point->group == kNoGroup ? "." : value_name(data_, *point));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  std::string multiqc(const std::string& name, const std::string& title) const {
    ordered_json out = multiqc_plot("scatter", name, title, axis_name(data_, x_), axis_name(data_, y_));
    for (const EmbeddingPoint* point : some(kMostMultiqcPoints)) {
      const Look& look = looks_.looks()[looks_.of(*point)];
      ordered_json mark = {
          {"x", point->at[x_]}, {"y", point->at[y_]}, {"name", point->name}, {"color", look.colour}};
      const std::string group = !data_.coloured ? "sequences" : look.name.empty() ? colour_ : look.name;
      if (data_.coloured) mark["group"] = group;
      out["data"][group].push_back(std::move(mark));
    }
    return json_text(out);
  }

  const EmbeddingPoints& data_;
  const Looks& looks_;
  std::string colour_;
  size_t x_, y_;
};

Figure scree_figure(const std::string& name, const EmbeddingPoints& data) {
  Figure figure;
  figure.name = name + "_scree";
  figure.title = "Variance explained by each component";
  std::vector<std::string> names;
  double all = 0;
  const size_t count = data.pca.components.size();
  ordered_json plot = multiqc_plot("bargraph", figure.name, figure.title, "", "Percent of the variance");
  // The bars stay in their order and cannot be shown as shares.
  plot["pconfig"].update({{"cpswitch", false}, {"sort_samples", false}, {"tt_decimals", 3}});
  figure.numbers.columns = {{"Component"},
                            {"Percent of the variance", "", true},
                            {"together", "percent, with all before it", true},
                            {"Variance", "in squared units of the values", true}};
  for (size_t k = 0; k < count; ++k) {
    names.push_back(component_name(k));
    all += share(data, k);
    plot["data"][names[k]] = {{"percent of the variance", share(data, k)}};
    figure.numbers.rows.push_back(
        {names[k], six_digits(share(data, k)), six_digits(all), six_digits(data.pca.variances[k])});
  }
  Plot chart(figure.title, 700, 320, category_axis("", names),
             round_axis("Percent of the variance", 0, 1.08 * share(data, 0)));
  for (size_t k = 0; k < count; ++k) {
    const double middle = chart.x(static_cast<double>(k)),
                 half = 0.35 * (chart.right() - chart.left()) / static_cast<double>(count);
    const double top = chart.y(share(data, k));
    chart.marks().path(box_path(middle - half, top, 2 * half, chart.bottom() - top), theme::kSeries[0]);
    chart.note(static_cast<double>(k), share(data, k), 0, -4, value_text(share(data, k)),
               {.colour = theme::kInk});
  }
  figure.svg = chart.picture();
  figure.caption = "Percent of the variance of " + plural(data.rows, "row") + " that each of the first " +
                   plural(count, "component") + " explains. Together they explain " + value_text(all) + " %.";
  figure.words = "The first component explains " + value_text(share(data, 0)) +
                 " % of the variance, and all that are shown " + value_text(all) + " %.";
  figure.multiqc = json_text(plot);
  return figure;
}

Table group_table(const EmbeddingPoints& data, const std::string& colour) {
  Table table;
  table.title = "Sequences by " + colour;
  const bool more_rows = data.rows != data.sequences;
  table.columns = {{colour}, {"Sequences", "", true}};
  if (more_rows) table.columns.push_back({"Rows", "of these sequences, one for each 6-mer", true});
  const auto add = [&](const std::string& name, const EmbeddingGroup& group) {
    std::vector<std::string> row = {name, count_text(group.sequences)};
    if (more_rows) row.push_back(count_text(group.rows));
    table.rows.push_back(std::move(row));
  };
  EmbeddingGroup rest;
  size_t left = 0;
  for (size_t i = 0; i < data.groups.size(); ++i) {
    if (!data.numeric && i < kMostGroupRows) {
      add(data.groups[i].name, data.groups[i]);
      continue;
    }
    rest.sequences += data.groups[i].sequences;
    rest.rows += data.groups[i].rows;
    ++left;
  }
  if (data.numeric)
    add("a number", rest);
  else if (left > 0)
    add(plural(left, "further group"), rest);
  if (data.without.sequences > 0) add("no value", data.without);
  return table;
}

std::vector<std::string> paragraphs_of(const EmbeddingPoints& data) {
  std::vector<std::string> out = {"The file has " + plural(data.rows, "row") + " of " +
                                  plural(data.columns, "column") + " for " +
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
  Section section;
  section.name = name;
  section.title = "Embeddings: " + file_name(path);
  section.paragraphs = paragraphs_of(data);
  const Looks looks(data);
  for (size_t first = 0; first < 4 && first + 1 < data.pca.components.size(); first += 2)
    section.parts.emplace_back(Scatter(data, looks, options.colour, first).figure(name));
  if (!data.pca.components.empty()) section.parts.emplace_back(scree_figure(name, data));
  if (data.coloured) section.parts.emplace_back(group_table(data, options.colour));
  section.provenance = variant_provenance(path, data.header);
  section.provenance.insert(
      section.provenance.end(),
      {{"Format", data.format}, {"Rows", count_text(data.rows)}, {"Columns", count_text(data.columns)}});
  section.models = model_sentences(data.header);
  if (!data.names_path.empty()) section.provenance.emplace_back("Names", data.names_path);
  if (data.coloured) section.provenance.emplace_back("Table of groups", options.groups);
  return section;
}

}  // namespace carbon
