#include "src/report/drawing/svg.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"

namespace carbon {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The length of the UTF-8 sequence at the beginning of `text`, or 0 if there is none: overlong forms,
// surrogates and numbers beyond U+10FFFF are none, and neither are U+FFFE and U+FFFF, which XML does not
// allow.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = byte(0) < 0x80       ? 1
                        : byte(0) >> 5 == 6  ? 2
                        : byte(0) >> 4 == 14 ? 3
                        : byte(0) >> 3 == 30 ? 4
                                             : 0;
  if (length < 2) return length;
  if (text.size() < length) return 0;
  uint32_t letter = byte(0) & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    letter = letter << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool allowed = letter >= kLeast[length] && letter <= 0x10FFFF &&
                       (letter < 0xD800 || letter > 0xDFFF) && letter != 0xFFFE && letter != 0xFFFF;
  return allowed ? length : 0;
}

// Red, green or blue of #rrggbb.
int channel(std::string_view colour, size_t i) {
  int value = 0;
  std::from_chars(&colour[1 + 2 * i], &colour[1 + 2 * i] + 2, value, 16);
  return value;
}

constexpr std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

using Corners = std::vector<std::pair<double, double>>;

// The corners of a shape of radius 1 around zero.
Corners corners_of(Marker marker) {
  constexpr double arm = 0.42;  // half the width of the arms of a plus
  const Corners plus = {{-arm, -1.2}, {arm, -1.2}, {arm, -arm}, {1.2, -arm}, {1.2, arm},   {arm, arm},
                        {arm, 1.2},   {-arm, 1.2}, {-arm, arm}, {-1.2, arm}, {-1.2, -arm}, {-arm, -arm}};
  switch (marker) {
    case Marker::circle:
      return {};
    case Marker::square:
      return {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    case Marker::triangle:
      return {{0, -1.3}, {1.2, 0.85}, {-1.2, 0.85}};
    case Marker::down_triangle:
      return {{0, 1.3}, {-1.2, -0.85}, {1.2, -0.85}};
    case Marker::diamond:
      return {{0, -1.35}, {1.15, 0}, {0, 1.35}, {-1.15, 0}};
    case Marker::plus:
      return plus;
    case Marker::cross: {
      Corners turned;
      for (const auto& [x, y] : plus)
        turned.emplace_back((x - y) / std::numbers::sqrt2, (x + y) / std::numbers::sqrt2);
      return turned;
    }
    case Marker::star: {
      Corners star;
      for (int i = 0; i < 10; ++i) {
        const double angle = std::numbers::pi * (i / 5.0 - 0.5), far = i % 2 == 0 ? 1.5 : 0.65;
        star.emplace_back(far * std::cos(angle), far * std::sin(angle));
      }
      return star;
    }
  }
  return {};
}

// Where the letters of a text begin. The later bytes of a letter of UTF-8 are told by their highest bits.
std::vector<size_t> letters_of(std::string_view text) {
  std::vector<size_t> out;
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) out.push_back(i);
  return out;
}

}  // namespace

std::string px(double value) {
  const double tenths = std::floor(value * 10 + 0.5);
  char digits[40];
  // Adding zero makes -0 the number that is printed as 0.
  const auto end =
      std::to_chars(digits, digits + sizeof digits, tenths / 10 + 0.0, std::chars_format::fixed).ptr;
  return {digits, end};
}

std::string escape_xml(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr std::string_view kEscaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = sequence_length(text), special = kSpecial.find(text[0]);
    const bool allowed = length > 0 && (!is_control(text[0]) || text[0] == '\n' || text[0] == '\t');
    out += !allowed ? kReplacement : special != kSpecial.npos ? kEscaped[special] : text.substr(0, length);
    text.remove_prefix(allowed ? length : 1);
  }
  return out;
}

std::string mix_colours(std::string_view from, std::string_view to, double part) {
  std::string out = "#";
  for (size_t i = 0; i < 3; ++i) {
    const int a = channel(from, i), b = channel(to, i);
    out += hex_text(static_cast<size_t>(std::floor(a + (b - a) * part + 0.5)), 2);
  }
  return out;
}

std::string box_path(double left, double top, double width, double height) {
  return "M" + px(left, top) + "h" + px(width) + "v" + px(height) + "h" + px(-width) + "Z";
}

void Svg::path(std::string_view data, std::string_view fill, std::string_view more) {
  if (data.empty()) return;
  body_.append("<path fill=\"").append(fill).append("\"").append(more);
  body_.append(" d=\"").append(data).append("\"/>");
}

void Svg::stroke(std::string_view data, std::string_view colour, double width, std::string_view more) {
  std::string attributes = " stroke=\"" + std::string(colour) + "\"";
  if (width != 1) attributes += " stroke-width=\"" + px(width) + "\"";
  path(data, "none", attributes + std::string(more));
}

void Svg::text(double x, double y, std::string_view words, const TextStyle& style) {
  body_ += "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" fill=\"" + std::string(style.colour) +
           "\" text-anchor=\"" + std::string(anchor_name(style.anchor)) + "\"";
  if (style.size != 11) body_ += " font-size=\"" + px(style.size) + "\"";
  if (style.bold) body_ += " font-weight=\"600\"";
  if (style.turn != 0) body_ += " transform=\"rotate(" + px(style.turn) + " " + px(x, y) + ")\"";
  body_ += ">" + escape_xml(words) + "</text>";
}

void Svg::begin_clip(double left, double top, double width, double height) {
  body_ += "<svg x=\"" + px(left) + "\" y=\"" + px(top) + "\" width=\"" + px(width) + "\" height=\"" +
           px(height) + "\" viewBox=\"" + px(left, top) + " " + px(width, height) + "\">";
}

void Svg::end_clip() {
  body_ += "</svg>";
}

void Svg::add(const Svg& content, double x, double y) {
  body_ += "<g transform=\"translate(" + px(x, y) + ")\">" + content.body_ + "</g>";
}

std::string Svg::picture(double width, double height, std::string_view title) const {
  const std::string name = escape_xml(title);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(width) + "\" height=\"" + px(height) +
         "\" viewBox=\"0 0 " + px(width, height) +
         "\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" font-size=\"11\" "
         "role=\"img\"><title>" +
         name + "</title><rect width=\"" + px(width) + "\" height=\"" + px(height) + "\" fill=\"" +
         std::string(theme::kPaper) + "\"/><text x=\"12\" y=\"16\" font-size=\"13\" fill=\"" +
         std::string(theme::kInk) + "\">" + name + "</text>" + body_ + "</svg>";
}

double text_width(std::string_view words, double size) {
  return 0.6 * size * static_cast<double>(letters_of(words).size());
}

std::string cut_text(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const std::vector<size_t> letters = letters_of(text);
  return letters.size() <= most ? std::string(text) : std::string(text.substr(0, letters[most])) + "\u2026";
}

std::string cut_middle(std::string_view text, size_t most) {
  const std::vector<size_t> letters = letters_of(text);
  if (letters.size() <= most) return std::string(text);
  const size_t head = most / 3, tail = most - head;
  return std::string(text.substr(0, letters[head])) + "\u2026" +
         std::string(text.substr(letters[letters.size() - tail]));
}

std::string marker_path(Marker marker, double x, double y, double radius) {
  const std::string r = px(radius), width = px(2 * radius);
  if (marker == Marker::circle)
    return "M" + px(x - radius, y) + "a" + r + " " + r + " 0 1 0 " + width + " 0a" + r + " " + r + " 0 1 0 " +
           px(-2 * radius) + " 0Z";
  std::string path;
  double at_x = 0, at_y = 0;
  for (const auto& [corner_x, corner_y] : corners_of(marker)) {
    const double to_x = radius * corner_x, to_y = radius * corner_y;
    path += path.empty() ? "M" + px(x + to_x, y + to_y) : "l" + px(to_x - at_x, to_y - at_y);
    at_x = to_x;
    at_y = to_y;
  }
  return path + "Z";
}

}  // namespace carbon
