// src/report/drawing/: what the figures of a report are drawn with: numbers come in, and SVG, or the parts
// of a document, go out. Knows no file.
//
// Here is SVG itself: numbers, text that cannot break out of its element, the elements that figures are
// made of, their colours, and the shapes of points.
//
// Coordinates are pixels of CSS (96 per inch), counted from the top left. Knows no data.
#pragma once

#include <array>
#include <string>
#include <string_view>

// The colours of figures and the outlines of letters. Those that the page of carbon serve has, too, stand in
// src/report/figures/figure.js and logo.js, from which the build makes figure_design.h.
//
// Colours that must be told apart differ in hue and in lightness, for colour-blind eyes and for grey paper.
// All have a contrast of 3:1 or more with the paper, and text has 4.5:1 or more.
namespace carbon::theme {

struct Colours {
  std::string_view paper, ink, soft, grid, line, area, mark;
  std::string_view pale;  // the opacity of the letters of a logo that are not the actual base
  std::string_view reference, nothing, middle;
  std::array<std::string_view, 4> letters;     // A, C, G, T
  std::array<std::string_view, 4> less, more;  // the two arms of a map of changes, from its middle outwards
};

// kLight, and kOutlines of A, C, G and T in a box from 0,0 to 1,1.
#include "figure_design.h"

inline constexpr std::string_view kPaper = kLight.paper, kInk = kLight.ink, kSoft = kLight.soft,
                                  kGrid = kLight.grid, kLine = kLight.line, kArea = kLight.area,
                                  kMark = kLight.mark, kPale = kLight.pale, kReference = kLight.reference,
                                  kNothing = kLight.nothing, kMiddle = kLight.middle;
inline constexpr std::array<std::string_view, 4> kLetters = kLight.letters, kLess = kLight.less,
                                                 kMore = kLight.more;
/// Series of a chart and groups of points, in the order in which they are given out.
inline constexpr std::array<std::string_view, 8> kSeries = {"#0b5cad", "#c7640c", "#0a8754", "#6b4fa0",
                                                            "#a8286b", "#8a6d00", "#0c7c8c", "#59636e"};

}  // namespace carbon::theme

namespace carbon {

/// Writes a length or a coordinate, rounded to a tenth of a pixel, with the fewest digits. px() of figure.js
/// writes the same text.
std::string px(double value);
/// Two of them, with a space between.
inline std::string px(double x, double y) {
  return px(x) + " " + px(y);
}
/// Escapes & < > " and ' for an element or an attribute. Control characters, which XML does not allow, and
/// bytes that are not UTF-8 become U+FFFD.
std::string escape_xml(std::string_view text);

/// The colour that lies at `part`, from 0 to 1, of the way between two.
std::string mix_colours(std::string_view from, std::string_view to, double part);

/// The path of a rectangle, for many rectangles of one colour in one element.
std::string box_path(double left, double top, double width, double height);

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 11;
  std::string_view colour = theme::kSoft;
  Anchor anchor = Anchor::middle;
  bool bold = false;
  double turn = 0;  // degrees, around the point
};

/// The content of a picture, element by element.
class Svg {
 public:
  /// `more` is further attributes, with a leading space; the caller escapes what is not a constant.
  void path(std::string_view data, std::string_view fill, std::string_view more = {});
  void stroke(std::string_view data, std::string_view colour, double width = 1, std::string_view more = {});
  void text(double x, double y, std::string_view words, const TextStyle& style = {});
  /// Elements between the two are not drawn outside of the box.
  void begin_clip(double left, double top, double width, double height);
  void end_clip();
  /// Another picture's content, moved.
  void add(const Svg& content, double x, double y);
  /// Elements that are ready.
  void raw(std::string_view elements) { body_ += elements; }

  const std::string& body() const { return body_; }
  /// The complete picture, which stands alone, with a white background. `title` is written at the top left,
  /// and is the name for those who cannot see it.
  std::string picture(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// About how wide a text is, in pixels: enough to keep labels apart.
double text_width(std::string_view words, double size = 11);
/// Text of a file in a place that is not wide: after `most` letters it ends in an ellipsis.
std::string cut_text(std::string_view text, size_t most);
/// The same with both ends of a longer text, because those of paths differ at the end.
std::string cut_middle(std::string_view text, size_t most);

/// The shapes of points that stand for groups: they can be told apart on grey paper, too.
enum class Marker { circle, square, triangle, diamond, down_triangle, cross, plus, star };

inline constexpr std::array<Marker, 8> kMarkers = {Marker::circle,  Marker::square, Marker::triangle,
                                                   Marker::diamond, Marker::plus,   Marker::down_triangle,
                                                   Marker::cross,   Marker::star};

/// The path of a shape around a point, `radius` pixels from its middle to its edge. All shapes have about the
/// same area.
std::string marker_path(Marker marker, double x, double y, double radius);

}  // namespace carbon
