#include "src/report/drawing/markers.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "src/report/drawing/svg.hpp"

namespace carbon {
namespace {

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

}  // namespace

std::string marker_path(Marker marker, double x, double y, double radius) {
  const std::string r = px(radius), width = px(2 * radius);
  if (marker == Marker::circle)
    return "M" + px(x - radius) + " " + px(y) + "a" + r + " " + r + " 0 1 0 " + width + " 0a" + r + " " + r +
           " 0 1 0 " + px(-2 * radius) + " 0Z";
  std::string path;
  double at_x = 0, at_y = 0;
  for (const auto& [corner_x, corner_y] : corners_of(marker)) {
    const double to_x = radius * corner_x, to_y = radius * corner_y;
    path += path.empty() ? "M" + px(x + to_x) + " " + px(y + to_y)
                         : "l" + px(to_x - at_x) + " " + px(to_y - at_y);
    at_x = to_x;
    at_y = to_y;
  }
  return path + "Z";
}

}  // namespace carbon
