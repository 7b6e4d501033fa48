#include "src/report/drawing/plot.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr std::string_view kMinus = "\u2212";
constexpr const char* kDashes = " stroke-dasharray=\"4 3\"";
constexpr size_t kDotLayers = 8;
constexpr size_t kMany = 40;  // values of which a few may lie beyond the ends of an axis
constexpr double kTitleHeight = 26, kAxisHeight = 44, kLegendLine = 18;

// Where a value lies between the ends of its axis, from 0 to 1.
double share(const Axis& axis, double value) {
  if (!axis.names.empty()) return (value + 0.5) / static_cast<double>(axis.names.size());
  return (value - axis.least) / (axis.most - axis.least);
}

std::vector<double> ticks_of(const Axis& axis, double pixels, double apart) {
  std::vector<double> out = round_ticks(axis.least, axis.most, std::max(2, static_cast<int>(pixels / apart)));
  if (axis.counts) std::erase_if(out, [](double tick) { return tick != std::round(tick); });
  return out;
}

std::string with_minus(std::string digits) {
  return digits.starts_with('-') ? std::string(kMinus) + digits.substr(1) : digits;
}

// The text of a tick: as many decimals as the step between two needs, with a minus sign and not a hyphen, and
// commas between thousands.
std::string tick_text(double value, const std::vector<double>& ticks) {
  const double step = ticks.size() < 2 ? value : ticks[1] - ticks[0];
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e7 || size < 1e-4)) return with_minus(general_text(value, 6));
  const int decimals =
      step == 0 ? 0 : std::clamp(static_cast<int>(std::ceil(-std::log10(std::abs(step)) - 1e-9)), 0, 6);
  return (value < 0 ? std::string(kMinus) : std::string()) + with_commas(fixed_text(size, decimals));
}

std::string tick_of(const Axis& axis, const std::vector<double>& ticks, double value) {
  if (axis.positions && value >= 0) return count_text(static_cast<uint64_t>(std::llround(value)));
  return tick_text(value, ticks);
}

// Whether doubles are too coarse for steps between the two.
bool alike(double least, double most) {
  return !(most - least > 1e-12 * std::max(std::abs(least), std::abs(most)));
}

std::string line_path(std::span<const Point> points, const Plot& plot) {
  std::string path;
  for (const Point& p : points) path += (path.empty() ? "M" : "L") + px(plot.x(p.x), plot.y(p.y));
  return path;
}

// ---- Clouds

// A legend keeps views of its colours, so they live as long as the program: from the palest to the darkest.
constexpr std::string_view kLevels[] = {"#cfe3f5", "#a9cde9", "#84b9e3", "#5a99d0",
                                        "#2f78bd", "#1d5a98", "#0c3c74", "#051f40"};

size_t level_of(uint32_t count) {
  size_t level = 0;
  for (; count >= 10; count /= 10) ++level;
  return std::min(level, std::size(kLevels) - 1);
}

// The levels that are used spread over all colours.
std::string_view colour_of(size_t level, size_t levels) {
  if (levels == 1) return kLevels[4];
  return kLevels[level * (std::size(kLevels) - 1) / (levels - 1)];
}

double edge(const Axis& axis, size_t side, size_t i) {
  return axis.least + (axis.most - axis.least) * static_cast<double>(i) / static_cast<double>(side);
}

size_t cell_of(const Axis& axis, size_t side, double value) {
  const double at = share(axis, value) * static_cast<double>(side);
  return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(side - 1)));
}

}  // namespace

std::string opacity_of(double opacity) {
  return " fill-opacity=\"" + general_text(opacity, 3) + "\"";
}

double round_step(double least) {
  const double exponent = std::floor(std::log10(least)), power = std::pow(10, exponent);
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return std::pow(10, exponent + 1);
}

std::vector<double> round_ticks(double least, double most, int count) {
  std::vector<double> out;
  if (alike(least, most) || !std::isfinite(most - least)) return {least};
  const double step = round_step((most - least) / std::max(1, count) * 0.999);
  // Multiples of a whole number, so that zero is exactly zero.
  const double from = std::ceil(least / step - 1e-9), to = std::floor(most / step + 1e-9);
  for (double i = from; i <= to; ++i) out.push_back(i * step);
  return out;
}

Axis round_axis(std::string label, double least, double most) {
  if (alike(least, most)) {
    const double room = std::max(1e-6, 0.05 * std::abs(least));
    least -= room;
    most += room;
  }
  const std::vector<double> ticks = round_ticks(least, most, 8);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : most - least;
  // A multiple of the step may be rounded to the other side of the value.
  return {std::move(label), std::min(least, std::floor(least / step + 1e-9) * step),
          std::max(most, std::ceil(most / step - 1e-9) * step)};
}

Axis category_axis(std::string label, std::vector<std::string> names) {
  return {std::move(label), 0, static_cast<double>(names.size()), std::move(names)};
}

std::pair<double, double> middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return {0, 1};
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  // Of some dozen values one at each end may lie apart.
  const double apart = std::max(std::floor(0.0025 * last), values.size() >= kMany ? 1.0 : 0.0);
  const double low = values[static_cast<size_t>(apart)], high = values[static_cast<size_t>(last - apart)];
  const double range = high - low;
  if (range <= 0) return {values.front(), values.back()};
  return {low - values.front() > range ? low : values.front(),
          values.back() - high > range ? high : values.back()};
}

Axis value_axis(std::string label, std::vector<double> values) {
  const auto [least, most] = middle_of(std::move(values));
  return round_axis(std::move(label), least, most);
}

Axis count_axis(std::string label, double most) {
  Axis out = round_axis(std::move(label), 0, std::max(1.0, most));
  out.counts = true;
  return out;
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " (" + unit + ")";
}

std::string value_text(double value) {
  if (std::isnan(value)) return ".";
  // What four digits make 10,000, up to whole numbers of people's size, is not written with an exponent.
  if (const double size = std::abs(value); size >= 9999.5 && size < 1e15) {
    const double unit = std::pow(10, std::floor(std::log10(size)) - 3);
    const double rounded = std::round(value / unit) * unit;
    return (rounded < 0 ? std::string(kMinus) : std::string()) +
           count_text(static_cast<uint64_t>(std::abs(rounded)));
  }
  // Adding zero makes -0 the number that is written as 0.
  return with_minus(general_text(value + 0.0, 4));
}

std::string six_digits(double value) {
  return std::isnan(value) ? "." : general_text(value, 6);
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Plot::Plot(std::string title, double width, double height, Axis x, Axis y)
    : title_(std::move(title)), width_(width), height_(height), x_(std::move(x)), y_(std::move(y)) {
  double widest = 20;
  if (y_.names.empty()) {
    const std::vector<double> ticks = ticks_of(y_, height, 36);
    for (const double tick : ticks) widest = std::max(widest, text_width(tick_of(y_, ticks, tick)));
  } else {
    for (const std::string& name : y_.names) widest = std::max(widest, text_width(name));
  }
  left_ = std::min(widest, 0.4 * width) + (y_.label.empty() ? 14 : 32);
  right_ = width - 16;
  top_ = kTitleHeight + 8;
  bottom_ = height - kAxisHeight;
}

double Plot::x(double value) const {
  return left_ + share(x_, value) * (right_ - left_);
}

double Plot::y(double value) const {
  const double part = share(y_, value);
  if (!y_.names.empty()) return top_ + part * (bottom_ - top_);
  return bottom_ - y_.foot - part * (bottom_ - y_.foot - top_);
}

void Plot::line(std::span<const Point> points, std::string_view colour, double width, bool dashed) {
  const std::string dashes = dashed ? kDashes : "";
  marks_.stroke(line_path(points, *this), colour, width, dashes + " stroke-linejoin=\"round\"");
}

void Plot::band(std::span<const Point> low, std::span<const Point> high, std::string_view colour,
                double opacity) {
  if (low.empty()) return;
  std::string path = line_path(low, *this);
  for (size_t i = high.size(); i-- > 0;) path += "L" + px(x(high[i].x), y(high[i].y));
  marks_.path(path + "Z", colour, opacity_of(opacity));
}

void Plot::bar(double x_from, double x_to, double y_from, double y_to, std::string_view colour) {
  const double left = std::min(x(x_from), x(x_to)), top = std::min(y(y_from), y(y_to));
  marks_.path(box_path(left, top, std::abs(x(x_to) - x(x_from)), std::abs(y(y_to) - y(y_from))), colour);
}

void Plot::dots(std::span<const Point> points, std::string_view colour, double radius, double opacity,
                std::string_view edge) {
  const std::string round = " stroke-linecap=\"round\"",
                    pale = round + " stroke-opacity=\"" + general_text(opacity, 3) + "\"";
  // Dots of one element are one shape, whatever lies upon what. Neighbours are in different elements.
  const size_t layers = edge.empty() ? 1 : kDotLayers;
  for (size_t layer = 0; layer < layers; ++layer) {
    // A line of no length with round ends is a dot, and one element holds them all.
    std::string path;
    for (size_t i = layer; i < points.size(); i += layers)
      path += "M" + px(x(points[i].x), y(points[i].y)) + "h0";
    if (!edge.empty()) marks_.stroke(path, edge, 2 * radius + 1.4, round);
    marks_.stroke(path, colour, 2 * radius, pale);
  }
}

void Plot::points(std::span<const Point> points, Marker marker, std::string_view colour, double radius,
                  double opacity) {
  std::string path;
  for (const Point& p : points) path += marker_path(marker, x(p.x), y(p.y), radius);
  marks_.path(path, colour, opacity_of(opacity));
}

void Plot::note(double x_value, double y_value, double right_px, double down_px, std::string_view words,
                const TextStyle& style) {
  marks_.text(x(x_value) + right_px, y(y_value) + down_px, words, style);
}

void Plot::corner_note(std::span<const std::string> lines, Anchor side) {
  double widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, text_width(line, 12));
  const double height = 16 * static_cast<double>(lines.size());
  const double at = side == Anchor::end ? right_ - 10 : left_ + 10;
  marks_.path(box_path(side == Anchor::end ? at - widest : at, bottom_ - 10 - height, widest, height + 4),
              theme::kPaper, opacity_of(0.8));
  for (size_t i = 0; i < lines.size(); ++i)
    marks_.text(at, bottom_ - 10 - height + 16 * static_cast<double>(i + 1) - 4, lines[i],
                {.size = 12, .colour = theme::kInk, .anchor = side});
}

void Plot::legend(std::span<const LegendEntry> entries) {
  double at = left_, line = top_ + 4;
  for (const LegendEntry& entry : entries) {
    const double wide = 22 + text_width(entry.name) + 14;
    if (at > left_ && at + wide > right_) at = left_, line += kLegendLine;
    const double middle = line - 4;
    std::string more = entry.opacity < 1 ? opacity_of(entry.opacity) : "";
    if (!entry.edge.empty()) more += " stroke=\"" + std::string(entry.edge) + "\"";
    if (entry.mark == LegendEntry::square)
      legend_.path(box_path(at, middle - 5, 12, 10), entry.colour, more);
    else if (entry.mark == LegendEntry::shape)
      legend_.path(marker_path(entry.marker, at + 6, middle, 4), entry.colour, more);
    else
      legend_.stroke("M" + px(at, middle) + "h16", entry.colour, 2,
                     entry.mark == LegendEntry::dashes ? kDashes : "");
    legend_.text(at + 20, line, entry.name, {.anchor = Anchor::start});
    at += wide;
  }
  if (!entries.empty()) top_ = line + 12;
}

void Plot::colour_scale(std::string_view name, double least, double most,
                        std::span<const std::string> colours) {
  constexpr double kBar = 240, kThick = 10;
  const double from = left_ + std::min(text_width(name) + 12, 0.4 * (right_ - left_)), top = top_ - 6;
  legend_.text(left_, top + kThick - 1, name, {.anchor = Anchor::start});
  const double step = kBar / static_cast<double>(colours.size());
  // Each box reaches below the next one, so that no paper shines through between them.
  for (size_t i = 0; i < colours.size(); ++i) {
    const double at = from + step * static_cast<double>(i);
    legend_.path(box_path(at, top, from + kBar - at, kThick), colours[i]);
  }
  const std::vector<double> ticks = round_ticks(least, most, 4);
  for (const double tick : ticks) {
    const double at = most > least ? from + kBar * (tick - least) / (most - least) : from + kBar / 2;
    legend_.stroke("M" + px(at, top + kThick) + "v4", theme::kSoft);
    legend_.text(at, top + kThick + 15, tick_text(tick, ticks));
  }
  top_ += 32;
}

void Plot::above(double height, const std::function<void(Svg&, double)>& draw) {
  // In a frame of its own, which the page stretches together with that of the marks.
  legend_.begin_clip(left_ - 1, top_ - 8, right_ - left_ + 2, height);
  draw(legend_, top_ - 8);
  legend_.end_clip();
  top_ += height;
}

void Plot::draw_x(Svg& out) const {
  for (size_t i = 0; i < x_.names.size(); ++i) out.text(x(static_cast<double>(i)), bottom_ + 16, x_.names[i]);
  if (!x_.names.empty()) return;
  std::vector<std::pair<double, std::string>> places = x_.ticks;
  if (places.empty()) {
    const std::vector<double> ticks = ticks_of(x_, right_ - left_, 80);
    for (const double tick : ticks) places.emplace_back(tick, tick_of(x_, ticks, tick));
  }
  double free = 0;  // from where on there is room
  for (const auto& [value, words] : places) {
    const double at = x(value), half = text_width(words) / 2, middle = std::min(at, width_ - half);
    out.stroke("M" + px(at, bottom_) + "v5", theme::kSoft);
    if (middle - half < free) continue;
    out.text(middle, bottom_ + 17, words);
    free = middle + half + 10;
  }
}

void Plot::draw_y(Svg& out) const {
  if (!y_.names.empty()) {
    for (size_t i = 0; i < y_.names.size(); ++i)
      out.text(left_ - 8, y(static_cast<double>(i)) + 4, y_.names[i], {.anchor = Anchor::end});
  } else {
    const std::vector<double> ticks = ticks_of(y_, bottom_ - top_, 36);
    for (const double tick : ticks) {
      out.stroke("M" + px(left_, y(tick)) + "H" + px(right_), theme::kGrid);
      out.text(left_ - 6, y(tick) + 4, tick_of(y_, ticks, tick), {.anchor = Anchor::end});
    }
  }
  if (!y_.label.empty())
    out.text(14, (top_ + bottom_) / 2, y_.label, {.size = 12, .colour = theme::kInk, .turn = -90});
}

void Plot::draw_axes(Svg& out) const {
  draw_y(out);
  out.stroke("M" + px(left_, bottom_) + "H" + px(right_), theme::kSoft);
  // The page puts other ticks in the place of these when it stretches the picture.
  out.raw("<g class=\"ticks\">");
  draw_x(out);
  out.raw("</g>");
  out.text((left_ + right_) / 2, height_ - 8, x_.label, {.size = 12, .colour = theme::kInk});
}

std::string Plot::picture() const {
  Svg out;
  draw_axes(out);
  out.add(legend_, 0, 0);
  out.begin_clip(left_ - 1, top_ - 1, right_ - left_ + 2, bottom_ - top_ + 2);
  out.raw(marks_.body());
  out.end_clip();
  return out.picture(width_, height_, title_);
}

Cloud::Cloud(std::span<const double> x, std::span<const double> y, const Axis& x_axis, const Axis& y_axis)
    : x_axis_(x_axis), y_axis_(y_axis), fine_(kFine * kFine) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (x_axis.holds(x[i]) && y_axis.holds(y[i]))
      ++fine_[cell_of(y_axis, kFine, y[i]) * kFine + cell_of(x_axis, kFine, x[i])];
    else
      ++beyond_;
  }
}

// Each square of the coarse grid is made of whole squares of the fine one.
std::vector<uint32_t> Cloud::coarse() const {
  constexpr size_t part = kFine / kCoarse;
  std::vector<uint32_t> out(kCoarse * kCoarse);
  for (size_t row = 0; row < kFine; ++row)
    for (size_t column = 0; column < kFine; ++column)
      out[row / part * kCoarse + column / part] += fine_[row * kFine + column];
  return out;
}

size_t Cloud::levels() const {
  return level_of(*std::max_element(fine_.begin(), fine_.end())) + 1;
}

std::vector<LegendEntry> Cloud::legend(const std::string& what) const {
  std::vector<LegendEntry> out;
  uint64_t from = 1;
  for (size_t level = 0; level < levels(); ++level, from *= 10) {
    const bool last = level + 1 == std::size(kLevels);
    out.push_back({count_text(from) + (last ? " or more" : "\u2013" + count_text(10 * from - 1)),
                   colour_of(level, levels())});
  }
  out.front().name += " " + what;
  return out;
}

// One element for each colour, and one box for neighbours that have the same.
void Cloud::draw(Plot& plot) const {
  std::vector<std::string> paths(levels());
  for (size_t row = 0; row < kFine; ++row)
    for (size_t begin = 0; begin < kFine;) {
      const uint32_t* counts = &fine_[row * kFine];
      size_t end = begin + 1;
      if (counts[begin] > 0) {
        const size_t level = level_of(counts[begin]);
        while (end < kFine && counts[end] > 0 && level_of(counts[end]) == level) ++end;
        const double left = plot.x(edge(x_axis_, kFine, begin)), top = plot.y(edge(y_axis_, kFine, row + 1));
        paths[level] += box_path(left, top, plot.x(edge(x_axis_, kFine, end)) - left,
                                 plot.y(edge(y_axis_, kFine, row)) - top);
      }
      begin = end;
    }
  for (size_t level = 0; level < paths.size(); ++level)
    if (!paths[level].empty()) plot.marks().path(paths[level], colour_of(level, paths.size()));
}

Table Cloud::numbers(const std::string& x_name, const std::string& y_name) const {
  Table out;
  out.columns = {{x_name + " from", "", true},
                 {x_name + " to", "", true},
                 {y_name + " from", "", true},
                 {y_name + " to", "", true},
                 {"Alleles", "in a square of a grid, within the ends of the axes", true}};
  const std::vector<uint32_t> counts = coarse();
  for (size_t row = 0; row < kCoarse; ++row)
    for (size_t column = 0; column < kCoarse; ++column)
      if (const uint32_t count = counts[row * kCoarse + column])
        out.rows.push_back({six_digits(edge(x_axis_, kCoarse, column)),
                            six_digits(edge(x_axis_, kCoarse, column + 1)),
                            six_digits(edge(y_axis_, kCoarse, row)),
                            six_digits(edge(y_axis_, kCoarse, row + 1)), std::to_string(count)});
  return out;
}

nlohmann::ordered_json Cloud::map() const {
  nlohmann::ordered_json out;
  const std::vector<uint32_t> counts = coarse();
  for (size_t row = kCoarse; row-- > 0;) {
    nlohmann::ordered_json line = nlohmann::ordered_json::object();
    for (size_t column = 0; column < kCoarse; ++column)
      line[six_digits(edge(x_axis_, kCoarse, column))] = counts[row * kCoarse + column];
    out[six_digits(edge(y_axis_, kCoarse, row))] = std::move(line);
  }
  return out;
}

}  // namespace carbon
