// A map of every change: a row for each letter, a column for each base, and as colour how much less or more
// likely than the actual base the other letter is. heatmap.js in C++, with maps of other rows beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/report/drawing/track.hpp"

namespace carbon {

inline constexpr double kHeatLegendWidth = 320, kHeatLegendHeight = 40;

/// The value of a cell of a map, which stands for one or several bases.
struct HeatCell {
  enum Kind { none, reference, value } kind = none;
  double change = 0;
};

struct HeatRows {
  std::vector<std::string> names;
  /// Of bases i to j - 1 in a row.
  std::function<HeatCell(size_t i, size_t j, size_t row)> cell;
};

struct HeatmapOptions {
  double width = 0, height = 128;
  double limit = 1;  // the change at which colours end
};

/// The rows A, C, G and T with ln P(letter) - ln P(the actual base), or their means.
HeatRows letter_rows(const BaseTrack& track);
/// The value at which the colours of these rows end: 19 of 20 values lie within it. At least 1, a multiple of
/// a half.
double heatmap_limit(const BaseTrack& track);

/// `track` gives positions and length.
void draw_heatmap(Svg& out, const BaseTrack& track, const HeatRows& rows, const TrackView& view,
                  const HeatmapOptions& options);
/// The legend, from 0,0. A map without a reference among its rows leaves that out.
void draw_heatmap_legend(Svg& out, double limit, bool reference = true);
/// A map that stands alone, with its title and legend.
std::string heatmap_picture(const BaseTrack& track, const TrackView& view, const HeatmapOptions& options,
                            std::string_view title);

}  // namespace carbon
