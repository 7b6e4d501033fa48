// The whole sequence in a strip: the mean log-likelihood of the bases, and what lies where. overview.js in
// C++.
#pragma once

#include <span>
#include <vector>

#include "src/report/drawing/logo.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {

inline constexpr double kOverviewHeight = 74;

/// Means of ln P of the actual bases over windows of `size` bases: x in bases from 0, y in nats.
std::vector<Point> overview_means(const BaseTrack& track, size_t size);
/// The width of a window that gives a calm line: a 60th of the sequence, at least 12 bases.
size_t overview_window(const BaseTrack& track);
void draw_overview(Svg& out, const BaseTrack& track, double width, std::span<const TrackMark> marks = {},
                   double height = kOverviewHeight);

}  // namespace carbon
