// The shapes of points that stand for groups: they can be told apart on grey paper, too.
#pragma once

#include <array>
#include <string>

namespace carbon {

enum class Marker { circle, square, triangle, diamond, down_triangle, cross, plus, star };

inline constexpr std::array<Marker, 8> kMarkers = {Marker::circle,  Marker::square, Marker::triangle,
                                                   Marker::diamond, Marker::plus,   Marker::down_triangle,
                                                   Marker::cross,   Marker::star};

/// The path of a shape around a point, `radius` pixels from its middle to its edge. All shapes have about the
/// same area.
std::string marker_path(Marker marker, double x, double y, double radius);

}  // namespace carbon
