#include "src/report/drawing/chart.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "src/base/numbers.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLine = 30, kBars = 0.72;      // pixels of a category; the part of its room that bars take
constexpr double kRowRoom = 16, kRowFoot = 12;  // pixels of a row of steps that the steps leave free

Table table_of(std::string title, const std::vector<ChartColumn>& columns, const std::vector<size_t>& rows) {
  Table out;
  out.title = std::move(title);
  out.rows.resize(rows.size());
  for (const ChartColumn& column : columns) {
    if (column.form == ChartColumn::hidden) continue;
    out.columns.push_back({column.name, column.about, !column.numbers.empty()});
    for (size_t i = 0; i < rows.size(); ++i) out.rows[i].push_back(column.text(rows[i]));
  }
  return out;
}

class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart) : chart_(chart) {
    rows_ = chart.columns.empty() ? 0 : chart.columns[0].size();
    for (const Series& series : chart.series) bar_series_ += series.mark == Series::bars;
    if (!chart.cloud || rows_ <= kMostRows) return;
    const auto dots = std::find_if(chart.series.begin(), chart.series.end(),
                                   [](const Series& one) { return one.mark == Series::dots; });
    cloud_value_ = dots->value;
    cloud_.emplace(chart.columns[chart.x_column].numbers, chart.columns[cloud_value_].numbers, chart.x,
                   chart.y);
  }

  Figure figure() {
    Figure out;
    out.name = chart_.name;
    out.title = chart_.title;
    out.svg = chart_.svg.empty() ? picture() : chart_.svg;
    out.axis = std::move(axis_);
    for (auto& [row, point] : tips_) out.points.push_back(std::move(point));
    out.caption = sentences({chart_.what, dots_words(), chart_.how, beyond_words(), chart_.facts});
    out.words = chart_.words;
    out.numbers = table();
    out.multiqc = multiqc();
    out.multiqc_caption = sentences({chart_.what, chart_.facts, multiqc_words()});
    return out;
  }

 private:
  // ---- The picture

  // Whether the dots are drawn as squares of a grid.
  bool squares() const { return cloud_ && rows_ > kMostDots; }
  bool upright() const { return chart_.y.names.empty(); }
  double number(size_t column, size_t row) const { return chart_.columns[column].numbers[row]; }

  double height() const {
    if (chart_.height > 0) return chart_.height;
    return (legend().empty() ? 84 : 110) + kLine * static_cast<double>(chart_.y.names.size());
  }

  // A value of a row: of a bin above its middle; on an axis of categories the row is the place.
  Point point(const Series& series, size_t row, size_t column) const {
    const double value = number(column, row), place = static_cast<double>(row);
    if (series.mark == Series::steps)
      return {(number(chart_.x_column, row) + number(chart_.x_column + 1, row)) / 2, value};
    if (!upright()) return {value, place};
    return {chart_.x.names.empty() ? number(chart_.x_column, row) : place, value};
  }

  std::vector<size_t> rows_of(const Series& series) const {
    return series.rows ? *series.rows : numbers_to(rows_);
  }

  std::vector<Point> points(const Series& series, size_t column) const {
    if (!series.points.empty()) return series.points;
    std::vector<Point> out;
    for (const size_t row : rows_of(series))
      if (const Point p = point(series, row, column); !std::isnan(p.x) && !std::isnan(p.y)) out.push_back(p);
    return out;
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> out;
    bool asked = false;
    if (squares()) out = cloud_->legend(chart_.row + "s");
    for (const Series& one : chart_.series) {
      const std::string& name = one.legend.empty() ? one.name : one.legend;
      if (name.empty() || chart_.rows_of_steps || !one.drawn || !one.in_legend) continue;
      asked |= !one.legend.empty();
      LegendEntry entry{.name = name, .colour = one.colour};
      if (one.mark == Series::line || one.mark == Series::range)
        entry.mark = one.dashed ? LegendEntry::dashes : LegendEntry::line;
      else
        entry.opacity = one.opacity, entry.edge = one.edge;
      if (one.mark == Series::dots) entry.mark = LegendEntry::shape, entry.marker = one.marker;
      out.push_back(std::move(entry));
    }
    if (out.size() < 2 && !asked) out.clear();
    out.insert(out.end(), chart_.legend.begin(), chart_.legend.end());
    return out;
  }

  std::string picture() {
    Plot plot(chart_.title, chart_.width, height(), chart_.x, chart_.y);
    if (chart_.prepare) chart_.prepare(plot);
    if (const std::vector<LegendEntry> entries = legend(); !entries.empty()) plot.legend(entries);
    std::vector<size_t> order = numbers_to(chart_.series.size());
    std::reverse(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return chart_.series[a].layer < chart_.series[b].layer; });
    for (const size_t i : order)
      if (chart_.series[i].drawn) draw(plot, i);
    if (chart_.above) chart_.above(plot);
    if (!chart_.corner.empty()) plot.corner_note(chart_.corner, chart_.corner_side);
    if (chart_.x.positions)
      axis_ = {plot.left(), plot.right(), plot.bottom(), chart_.x.least, chart_.x.most, chart_.x.ticks};
    return plot.picture();
  }

  void draw(Plot& plot, size_t index) {
    const Series& one = chart_.series[index];
    switch (one.mark) {
      case Series::bars:
        return draw_bars(plot, index);
      case Series::line:
        return plot.line(points(one, one.value), one.colour, one.size, one.dashed);
      case Series::band:
        return plot.band(points(one, one.low), points(one, one.value), one.colour, one.opacity);
      case Series::dots:
        return squares() ? cloud_->draw(plot) : draw_dots(plot, one);
      case Series::steps:
        return draw_steps(plot, index);
      case Series::cells:
        return;
      case Series::range:
        for (size_t row = 0; row < rows_; ++row) {
          const Point ends[] = {point(one, row, one.low), point(one, row, one.value)};
          if (!std::isnan(ends[0].x + ends[0].y + ends[1].x + ends[1].y))
            plot.line(ends, one.colour, one.size, one.dashed);
        }
    }
  }

  // Bars of several series stand side by side; those of one alone have their values beside them.
  void draw_bars(Plot& plot, size_t index) const {
    const Series& one = chart_.series[index];
    size_t before = 0;
    for (size_t i = 0; i < index; ++i) before += chart_.series[i].mark == Series::bars;
    const double room = kBars / static_cast<double>(bar_series_);
    for (size_t row = 0; row < rows_; ++row) {
      const double value = number(one.value, row), half = room * 0.44;
      if (std::isnan(value)) continue;
      const double middle = static_cast<double>(row) + room * (static_cast<double>(before) + 0.5) - kBars / 2;
      if (upright())
        plot.bar(middle - half, middle + half, 0, value, one.colour);
      else
        plot.bar(0, value, middle - half, middle + half, one.colour);
      if (bar_series_ > 1) continue;
      const bool count = chart_.columns[one.value].form == ChartColumn::count;
      const std::string words = count ? count_text(static_cast<uint64_t>(value)) : value_text(value);
      if (upright())
        plot.note(middle, value, 0, -4, words, {.colour = theme::kInk});
      else
        plot.note(value, middle, 6, 4, words, {.colour = theme::kInk, .anchor = Anchor::start});
    }
  }

  void draw_dots(Plot& plot, const Series& one) {
    std::vector<Point> inside;
    for (const size_t row : rows_of(one)) {
      const Point p = point(one, row, one.value);
      if (std::isnan(p.x) || std::isnan(p.y)) continue;
      const bool is_inside = chart_.x.holds(p.x) && chart_.y.holds(p.y);
      const Point at = is_inside ? Point{plot.x(p.x), plot.y(p.y)} : draw_beyond(plot, one, p);
      if (is_inside) inside.push_back(p);
      if (!chart_.tips.empty() && chart_.tips.size() <= kMostDots)
        tips_[row] = {at.x, at.y, chart_.tips[row]};
    }
    if (one.marker == Marker::circle)
      plot.dots(inside, one.colour, one.size, one.opacity, one.edge);
    else
      plot.points(inside, one.marker, one.colour, one.size, one.opacity);
  }

  // Draws a dot beyond the ends of the axes at the edge. Returns its place, in pixels.
  Point draw_beyond(Plot& plot, const Series& one, const Point& p) {
    constexpr double kInside = 5;
    ++beyond_;
    const auto within = [](const Axis& axis, double value) {
      return axis.names.empty() ? std::clamp(value, axis.least, axis.most) : value;
    };
    const Point at = {
        std::clamp(plot.x(within(chart_.x, p.x)), plot.left() + kInside, plot.right() - kInside),
        std::clamp(plot.y(within(chart_.y, p.y)), plot.top() + kInside, plot.bottom() - kInside)};
    const Marker marker = p.y < chart_.y.least ? Marker::down_triangle : Marker::triangle;
    plot.marks().path(marker_path(marker, at.x, at.y, one.size + 1.5), one.colour);
    return at;
  }

  void draw_steps(Plot& plot, size_t index) const {
    const Series& one = chart_.series[index];
    double base = plot.y(0), unit = 0;  // pixels of the value 1
    if (chart_.rows_of_steps) {
      const double room = (plot.bottom() - plot.top()) / static_cast<double>(chart_.y.names.size());
      base = plot.y(static_cast<double>(index)) + 0.5 * room - kRowFoot;
      double most = 0;
      for (size_t row = 0; row < rows_; ++row) most = std::max(most, number(one.value, row));
      unit = most > 0 ? (room - kRowRoom) / most : 0;
      plot.marks().stroke("M" + px(plot.left(), base) + "H" + px(plot.right()), theme::kGrid);
    } else {
      unit = base - plot.y(1);
    }
    std::string ground, outline;
    for (size_t row = 0; row < rows_; ++row) {
      const double from = number(chart_.x_column, row), to = number(chart_.x_column + 1, row);
      if (std::isnan(from) || std::isnan(to)) continue;
      const double left = plot.x(from), right = plot.x(to), tall = unit * number(one.value, row);
      if (tall > 0) ground += box_path(left, base - tall, right - left, tall);
      if (outline.empty()) outline = "M" + px(left, base);
      outline += "V" + px(base - tall) + "H" + px(right);
    }
    plot.marks().path(ground, one.colour, opacity_of(one.opacity));
    if (!one.edge.empty() && !outline.empty())
      plot.marks().stroke(outline + "V" + px(base), one.edge, chart_.rows_of_steps ? 0.7 : 1.5);
  }

  std::string beyond_words() const {
    const uint64_t count = squares() ? cloud_->beyond() : beyond_;
    if (count == 0) return "";
    return plural(count, "point", "lies", "lie") + " beyond the ends of the axes and " +
           (count == 1 ? "is" : "are") +
           (squares()    ? " not drawn."
            : count == 1 ? " a triangle at the edge."
                         : " triangles at the edge.");
  }

  std::string dots_words() const {
    if (!chart_.cloud) return "";
    return squares() ? "The colour of a square says how many " + chart_.row + "s it holds."
                     : "A dot is an " + chart_.row + ".";
  }

  // ---- The numbers

  // The rows that are kept of all.
  std::vector<size_t> some(size_t most) const {
    std::vector<size_t> out;
    const size_t count = most == 0 ? rows_ : std::min(rows_, most);
    for (size_t i = 0; i < count; ++i) out.push_back(chart_.first.empty() ? i * rows_ / count : i);
    return out;
  }

  std::string some_words(size_t most) const {
    const size_t all = std::max(chart_.all_rows, rows_);
    if (most == 0 || all <= most) return "";
    const std::string count = count_text(std::min(most, rows_));
    return (chart_.first.empty() ? "An even sample of " + count : "The " + count + " " + chart_.first) +
           " of " + plural(all, chart_.row);
  }

  Table table() const {
    if (cloud_)
      return cloud_->numbers(chart_.columns[chart_.x_column].name, chart_.columns[cloud_value_].name);
    return table_of(chart_.table_title.empty() ? some_words(kMostRows) : chart_.table_title, chart_.columns,
                    some(kMostRows));
  }

  // ---- MultiQC

  enum class Plots { bars, lines, points, cells };

  Plots plots() const {
    if (!chart_.rows_of_steps && (!chart_.x.names.empty() || !chart_.y.names.empty())) return Plots::bars;
    if (any(Series::cells) || squares()) return Plots::cells;
    return any(Series::dots) ? Plots::points : Plots::lines;
  }

  bool any(Series::Mark mark) const {
    return std::any_of(chart_.series.begin(), chart_.series.end(),
                       [&](const Series& one) { return one.mark == mark; });
  }

  // Whether MultiQC draws a series: what has a name and values.
  static bool shown(const Series& one) { return !one.name.empty() && (one.points.empty() || !one.drawn); }

  std::string multiqc() const {
    std::string type, x = chart_.x.label, y = chart_.y.label;
    Json data, more = Json::object();  // `more` is what the configuration has besides names and labels
    switch (plots()) {
      case Plots::bars:
        type = "bargraph", data = bars();
        if (!upright()) y = x;
        x.clear();
        // Bars stay in their order and cannot be shown as shares.
        more = {{"cpswitch", false}, {"sort_samples", false}, {"tt_decimals", 3}};
        if (bar_series_ != 1) more["stacking"] = "group";
        // Else its axis would end at the shortest bar.
        if (all_negative()) more["ymax"] = 0;
        break;
      case Plots::lines:
        type = "linegraph", data = lines();
        if (chart_.rows_of_steps) y = "Share of the group";
        if (chart_.y.least == 0) more["ymin"] = 0;
        if (chart_.y.most == 1 && !chart_.rows_of_steps) more["ymax"] = 1;
        break;
      case Plots::points:
        type = "scatter", data = scatter();
        break;
      case Plots::cells:
        type = "heatmap", data = squares() ? cloud_->map() : cells();
        if (squares()) more = {{"zlab", chart_.row + "s"}, {"square", false}, {"display_values", false}};
    }
    if (data.empty()) return "";
    Json config = {{"id", "carbon_" + chart_.name + "_plot"}, {"title", "carbon: " + chart_.title}};
    if (!x.empty()) config["xlab"] = x;
    config["ylab"] = y;
    config.update(more);
    return json_text(Json{{"plot_type", type}, {"pconfig", config}, {"data", std::move(data)}});
  }

  bool all_negative() const {
    return std::none_of(chart_.series.begin(), chart_.series.end(), [&](const Series& one) {
      const std::vector<double>& values = chart_.columns[one.value].numbers;
      return shown(one) && std::any_of(values.begin(), values.end(), [](double value) { return value > 0; });
    });
  }

  Json bars() const {
    Json out = Json::object();
    TakenNames taken;
    for (size_t row = 0; row < rows_; ++row) {
      const std::string name = free_name(chart_.columns[chart_.names].text(row), taken, " (", ")");
      for (const Series& one : chart_.series) {
        const double value = shown(one) ? number(one.value, row) : NAN;
        if (std::isnan(value)) continue;
        const Json bar = chart_.columns[one.value].form == ChartColumn::count
                             ? Json(static_cast<uint64_t>(value))
                             : Json(value);
        (chart_.sample.empty() ? out[name][one.name] : out[chart_.sample][name]) = bar;
      }
    }
    return out;
  }

  Json cells() const {
    Json out = Json::object();
    for (const Series& one : chart_.series) {
      Json& line = out[one.name] = Json::object();
      for (size_t row = 0; row < rows_; ++row)
        if (const double value = number(one.value, row); std::isfinite(value))
          line[chart_.columns[chart_.names].text(row)] = value;
    }
    return out;
  }

  Json lines() const {
    Json out = Json::object();
    for (const Series& one : chart_.series) {
      if (!shown(one)) continue;
      Json& line = out[one.name] = Json::array();
      for (const Point& p : points(one, one.value)) line.push_back({p.x, p.y});
    }
    return out;
  }

  Json scatter() const {
    std::vector<bool> kept(rows_);
    for (const size_t row : some(chart_.most_multiqc)) kept[row] = true;
    const size_t named = static_cast<size_t>(std::count_if(chart_.series.begin(), chart_.series.end(),
                                                           [](const auto& one) { return shown(one); }));
    Json out = Json::object();
    for (const Series& one : chart_.series) {
      if (!shown(one)) continue;
      for (const size_t row : rows_of(one)) {
        const Point p = point(one, row, one.value);
        if (!kept[row] || !std::isfinite(p.x) || !std::isfinite(p.y)) continue;
        Json mark = {
            {"x", p.x}, {"y", p.y}, {"name", chart_.columns[chart_.names].text(row)}, {"color", one.colour}};
        if (named > 1) mark["group"] = one.name;
        out[one.name].push_back(std::move(mark));
      }
    }
    return out;
  }

  std::string multiqc_words() const {
    if (squares())
      return sentences(
          {"The numbers are those of " + chart_.row + "s in each square of a grid.", beyond_words()});
    if (plots() == Plots::bars || plots() == Plots::cells) return "";
    if (plots() == Plots::points) {
      const std::string words = some_words(chart_.most_multiqc);
      return words.empty() ? words : words + (chart_.first.empty() ? " is drawn." : " are drawn.");
    }
    return any(Series::steps) ? "The lines join the middles of the bins." : "";
  }

  const Chart& chart_;
  std::optional<Cloud> cloud_;  // of more points than a table has rows
  size_t cloud_value_ = 0;      // the column of its y
  size_t rows_ = 0, bar_series_ = 0;
  std::map<size_t, FigurePoint> tips_;  // by the row
  std::optional<PositionAxis> axis_;
  uint64_t beyond_ = 0;  // dots
};

}  // namespace

std::string ChartColumn::text(size_t row) const {
  if (!texts.empty()) return texts[row];
  if (!empty.empty() && empty[row]) return "";
  const double value = numbers[row];
  if (std::isnan(value)) return ".";
  if (form == count) return std::to_string(static_cast<uint64_t>(value));
  if (form == grouped) return count_text(static_cast<uint64_t>(value));
  return form == edge ? general_text(value, 12) : six_digits(value);
}

std::vector<size_t> numbers_to(size_t count) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

std::string sentences(std::initializer_list<std::string> all) {
  std::string out;
  for (const std::string& one : all)
    if (!one.empty()) out += (out.empty() ? "" : " ") + one;
  return out;
}

Series guide(std::vector<Point> points, std::string legend) {
  return {.legend = std::move(legend),
          .colour = theme::kSoft,
          .points = std::move(points),
          .size = 1,
          .dashed = true};
}

Figure figure_of(const Chart& chart) {
  return ChartDrawing(chart).figure();
}

Table table_of(std::string title, const std::vector<ChartColumn>& columns) {
  return table_of(std::move(title), columns, numbers_to(columns[0].size()));
}

std::pair<double, double> ends_of(const Chart& chart, std::initializer_list<size_t> columns, double least,
                                  double most) {
  for (const size_t column : columns)
    for (const double value : chart.columns[column].numbers)
      if (!std::isnan(value)) least = std::min(least, value), most = std::max(most, value);
  return {least, most};
}

}  // namespace carbon
