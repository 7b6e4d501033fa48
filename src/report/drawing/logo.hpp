// A sequence logo: at each base the four letters, stacked, as high as their probabilities; and the whole
// sequence in a strip: the mean log-likelihood of the bases, and what lies where. logo.js and overview.js in
// C++.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {

/// A part of a sequence, in bases of a track counted from 1, both ends included.
struct TrackMark {
  int64_t start = 1, end = 1;
  std::string name;
};

struct LogoOptions {
  double width = 0, height = 210;
  bool bits = false;  // heights are information in bits, not probabilities
  std::span<const TrackMark> marks = {};
};

/// The path of a letter (0 to 3) that fills a box.
std::string letter_path(int letter, double left, double top, double width, double height);
void draw_logo(Svg& out, const BaseTrack& track, const TrackView& view, const LogoOptions& options);
/// A logo that stands alone, with its title.
std::string logo_picture(const BaseTrack& track, const TrackView& view, const LogoOptions& options,
                         std::string_view title);

inline constexpr double kOverviewHeight = 74;

/// Means of ln P of the actual bases over windows of `size` bases: x in bases from 0, y in nats.
std::vector<Point> overview_means(const BaseTrack& track, size_t size);
/// The width of a window that gives a calm line: a 60th of the sequence, at least 12 bases.
size_t overview_window(const BaseTrack& track);
void draw_overview(Svg& out, const BaseTrack& track, double width, std::span<const TrackMark> marks = {},
                   double height = kOverviewHeight);

}  // namespace carbon
