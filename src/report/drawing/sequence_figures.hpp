// Figures along a sequence: a sequence logo, which has at each base the four letters, stacked, as high as
// their probabilities; the whole sequence in a strip, with the mean log-likelihood of the bases and what lies
// where; and a map of every change, with a row for each letter, a column for each base, and as colour how
// much less or more likely than the actual base the other letter is. Maps can have other rows besides.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {

struct LogoOptions {
  double width = 0, height = 210;
};

/// The path of a letter (0 to 3) that fills a box.
std::string letter_path(int letter, double left, double top, double width, double height);
/// Path data for each letter.
using LetterPaths = std::array<std::string, 4>;
/// Draws letters in their colours, those of `pale` paler.
void draw_letters(Svg& out, const LetterPaths& pale, const LetterPaths& full, const LetterPaths& more = {});
void draw_logo(Svg& out, const BaseTrack& track, const TrackView& view, const LogoOptions& options);

inline constexpr double kOverviewHeight = 74;

/// Means of ln P of the actual bases over windows of `size` bases: x in bases from 0, y in nats.
std::vector<Point> overview_means(const BaseTrack& track, size_t size);
/// The width of a window that gives a calm line: a 60th of the sequence, at least 12 bases.
size_t overview_window(const BaseTrack& track);
void draw_overview(Svg& out, const BaseTrack& track, double width);

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

}  // namespace carbon
