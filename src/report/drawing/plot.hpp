// A chart with two axes: where a value lies on the paper, ticks and their numbers, lines, areas, bars,
// points, and a legend.
//
// Knows no statistics: it draws the values that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/words.hpp"
#include "src/report/drawing/document.hpp"
#include "src/report/drawing/svg.hpp"

namespace carbon {

struct Point {
  double x = 0, y = 0;
};

/// One direction of a chart. Values outside are cut off by the frame.
struct Axis {
  std::string label;  // with the unit
  double least = 0, most = 1;
  std::vector<std::string> names = {};  // of categories: 0 to n - 1, each in a place of its own
  bool positions = false;               // of bases: all digits are written
  double foot = 0;                      // of y: pixels below the least value, for what is no value
  bool counts = false;                  // ticks are whole numbers
  /// Of x, places with texts in the place of round numbers; a text that has no room is left out.
  std::vector<std::pair<double, std::string>> ticks = {};

  bool holds(double value) const { return !names.empty() || (value >= least && value <= most); }
};

/// The lowest of 1, 2 or 5 times a power of ten that is not below `least`, a number above zero.
double round_step(double least);
/// Round numbers between two values, such a step apart, about `count` of them.
std::vector<double> round_ticks(double least, double most, int count);
/// An axis from the round number below `least` to that above `most`. Takes equal numbers, too.
Axis round_axis(std::string label, double least, double most);
/// An axis of categories.
Axis category_axis(std::string label, std::vector<std::string> names);
/// The least and the most of values; where the lowest, or the highest, lies further from the middle 99.5 % of
/// them than these reach, the end of these.
std::pair<double, double> middle_of(std::vector<double> values);
/// A round axis for these. The caption of a figure of dots names how many lie beyond.
Axis value_axis(std::string label, std::vector<double> values);
/// An axis of whole numbers from 0.
Axis count_axis(std::string label, double most);
/// An attribute of SVG.
std::string opacity_of(double opacity);
/// A name with the unit of its values, for an axis.
std::string with_unit(const std::string& name, const std::string& unit);
/// A measured value as it is written in text and tables: four significant digits, with a minus sign.
std::string value_text(double value);
/// A value in a table of numbers: six significant digits, "." for NaN.
std::string six_digits(double value);
/// A plot of MultiQC as text. Bytes of files that are no UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

struct LegendEntry {
  std::string name;
  std::string_view colour;
  enum Mark { square, line, dashes, shape } mark = square;
  Marker marker = Marker::circle;  // of `shape`
  double opacity = 1;              // as the marks of the chart have it, of all but lines
  std::string_view edge = {};      // the colour of a square's outline, "" for none
};

class Plot {
 public:
  /// The width and height of the whole picture, with its title and the labels of the axes.
  Plot(std::string title, double width, double height, Axis x, Axis y);

  double x(double value) const;
  double y(double value) const;
  double left() const { return left_; }
  double right() const { return right_; }
  double top() const { return top_; }
  double bottom() const { return bottom_; }

  void line(std::span<const Point> points, std::string_view colour, double width = 1.5, bool dashed = false);
  /// The area between two lines with the same x.
  void band(std::span<const Point> low, std::span<const Point> high, std::string_view colour,
            double opacity = 0.25);
  void bar(double x_from, double x_to, double y_from, double y_to, std::string_view colour);
  /// Points of one colour. With the colour of an edge each has an outline, so that of points that lie upon
  /// one another each can be seen.
  void dots(std::span<const Point> points, std::string_view colour, double radius = 2.2, double opacity = 0.6,
            std::string_view edge = {});
  /// Points of one colour and shape.
  void points(std::span<const Point> points, Marker marker, std::string_view colour, double radius = 2.6,
              double opacity = 0.7);
  /// A text beside a value, in pixels from it.
  void note(double x, double y, double right_px, double down_px, std::string_view words,
            const TextStyle& style = {});
  /// Lines of text in a lower corner of the frame, on paper that lets what lies below shine through.
  void corner_note(std::span<const std::string> lines, Anchor side);
  /// Entries from left to right above the frame, in as many lines as they need. Called before anything is
  /// drawn, because the frame makes room.
  void legend(std::span<const LegendEntry> entries);

  /// A bar of colours from `least` to `most` above the frame, with its name and some numbers. Called before a
  /// legend and anything that is drawn, because the frame makes room.
  void colour_scale(std::string_view name, double least, double most, std::span<const std::string> colours);
  /// Room of this height above the frame, into which `draw` draws from the height that it is given downwards.
  /// Called before a legend, too.
  void above(double height, const std::function<void(Svg&, double)>& draw);

  /// What has been drawn, between axes.
  std::string picture() const;
  /// The layer of marks, for what this class has no name for; coordinates from x() and y().
  Svg& marks() { return marks_; }

 private:
  void draw_axes(Svg& out) const;
  void draw_x(Svg& out) const;
  void draw_y(Svg& out) const;

  std::string title_;
  double width_, height_;
  Axis x_, y_;
  double left_, right_, top_, bottom_;
  Svg marks_, legend_;
};

/// Points that are too many to be told apart, as squares of a grid whose colours say how many each holds.
class Cloud {
 public:
  /// Points beyond the ends of an axis are in no square.
  Cloud(std::span<const double> x, std::span<const double> y, const Axis& x_axis, const Axis& y_axis);

  uint64_t beyond() const { return beyond_; }
  /// The colours, each with its range of counts. `what` are the points: "alleles".
  std::vector<LegendEntry> legend(const std::string& what) const;
  void draw(Plot& plot) const;
  /// In a grid coarser than that of the picture: how many there are.
  Table numbers(const std::string& x_name, const std::string& y_name) const;
  /// The same as the data of a map.
  nlohmann::ordered_json map() const;

 private:
  static constexpr size_t kFine = 80, kCoarse = 20;  // squares of a side

  std::vector<uint32_t> coarse() const;
  size_t levels() const;  // of colour: one for each power of ten

  const Axis &x_axis_, &y_axis_;
  uint64_t beyond_ = 0;
  std::vector<uint32_t> fine_;  // rows of y, from below, of squares of x
};

}  // namespace carbon
