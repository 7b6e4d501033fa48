// overview.js in C++.

#include "src/report/drawing/overview.hpp"

#include <algorithm>
#include <cmath>

#include "src/report/drawing/theme.hpp"

namespace carbon {
namespace {

double letters_of(const std::string& name) {
  size_t count = 0;
  for (const char c : name)
    count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;  // not the later bytes of a letter
  return static_cast<double>(count);
}

void draw_mark(Svg& out, const TrackMark& mark, const TrackLayout& place, double top) {
  const double from = place.x(static_cast<double>(mark.start - 1));
  const double wide = std::max(3.0, place.x(static_cast<double>(mark.end)) - from),
               half = 3 * letters_of(mark.name);
  out.box(from, top - 4, wide, 4, theme::kMark);
  out.text(std::min(std::max(from + wide / 2, place.left + half), place.right - half), top - 8, mark.name);
}

}  // namespace

std::vector<Point> overview_means(const BaseTrack& track, size_t size) {
  std::vector<Point> result;
  const size_t length = track.length(), step = std::max<size_t>(1, size / 2);
  for (size_t start = 0; start < length; start += step) {
    const size_t end = std::min(length, start + size);
    double sum = 0, count = 0;
    for (size_t i = start; i < end; ++i) {
      const double v = log_likelihood(track, i);
      if (std::isfinite(v)) sum += v, ++count;
    }
    if (count > 0) result.push_back({static_cast<double>(start + end) / 2, sum / count});
    if (end == length) break;
  }
  return result;
}

size_t overview_window(const BaseTrack& track) {
  return std::max<size_t>(12,
                          static_cast<size_t>(std::floor(static_cast<double>(track.length()) / 60 + 0.5)));
}

void draw_overview(Svg& out, const BaseTrack& track, double width, std::span<const TrackMark> marks,
                   double height) {
  const TrackLayout place({0, static_cast<double>(track.length())}, width);
  const double top = marks.empty() ? 6 : 20, foot = height - 6;
  const std::vector<Point> means = overview_means(track, overview_window(track));
  double lowest = -2;
  for (const Point& m : means) lowest = std::min(lowest, m.y);
  const auto y = [&](double value) { return top + value / lowest * (foot - top); };
  std::string line;
  for (const Point& m : means) line += (line.empty() ? "M" : "L") + px(place.x(m.x)) + " " + px(y(m.y));
  const std::string left = plain_number(place.left), right = plain_number(place.right),
                    low = plain_number(foot);
  if (!means.empty()) {
    out.path(line + "L" + px(place.x(means.back().x)) + " " + low + "L" + px(place.x(means.front().x)) + " " +
                 low + "Z",
             theme::kArea);
    out.stroke(line, theme::kLine, 1.5, " stroke-linejoin=\"round\"");
  }
  const double guess = y(std::log(1.0 / 4));  // what guessing would reach
  out.stroke("M" + left + " " + px(guess) + "H" + right, theme::kSoft, 1, " stroke-dasharray=\"3 3\"");
  out.stroke("M" + left + " " + plain_number(top) + "H" + right + "M" + left + " " + low + "H" + right,
             theme::kGrid);
  out.text(place.left - 6, top + 4, "0", {.anchor = Anchor::end});
  out.text(place.left - 6, guess + 4, "\u22121.4", {.anchor = Anchor::end});
  for (const TrackMark& mark : marks) draw_mark(out, mark, place, top);
}

}  // namespace carbon
