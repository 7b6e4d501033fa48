// The bases of a piece of a sequence with the probabilities of the four letters, and where a base lies on
// paper.
//
// The page of carbon serve, and the enlarged view of a report, draw the same numbers in JavaScript
// (src/report/figures): test/unit/report_drawing_test.cpp compares the numbers of both.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/report/drawing/plot.hpp"

namespace carbon {

inline constexpr std::string_view kLetterNames = "ACGT";

/// Natural logarithms of the probabilities of A, C, G and T; NaN in all four if a base has none.
using LetterLogs = std::array<double, 4>;

struct BaseTrack {
  std::string sequence;       // a letter for each base
  std::vector<int8_t> base;   // 0 to 3, or -1 for another letter
  std::vector<double> lnp;    // four for each base, as they are given
  std::vector<double> total;  // ln of the sum of the four probabilities of a base
  int64_t first = 1;          // the position of the first base, which axes show

  size_t length() const { return sequence.size(); }
  /// Whether base i has probabilities.
  bool has_value(size_t i) const { return !std::isnan(lnp[4 * i]); }
  /// ln P of letter k at base i, as it is given.
  double log_probability(size_t i, int k) const { return lnp[4 * i + static_cast<size_t>(k)]; }
  double probability(size_t i, int k) const { return std::exp(log_probability(i, k) - total[i]); }
  /// ln P of the base that is there; NaN if it has none.
  double log_likelihood(size_t i) const { return base[i] < 0 ? NAN : log_probability(i, base[i]); }
  /// ln P(letter k) - ln P(the base that is there), in nats; NaN if there is no such value.
  double log_ratio(size_t i, int k) const { return log_probability(i, k) - log_likelihood(i); }
  /// The entropy of the four probabilities, in nats.
  double entropy(size_t i) const;
};

/// `logp` has a row for each letter of `sequence`. Means of log-probabilities do not add up to one as
/// probabilities; where they are drawn, each base is scaled to do so.
BaseTrack make_track(std::string sequence, std::span<const LetterLogs> logp, int64_t first = 1);

/// The part that is shown, in bases from 0, end not included.
struct TrackView {
  double start = 0, end = 0;
};

/// Where bases lie in a figure of this width. All figures have the same margins, so that they line up.
struct TrackLayout {
  TrackLayout(const TrackView& view, double width);
  double x(double position) const { return left + (position - start) * unit; }

  double start, left, right, unit;
  int64_t step;  // bases in a column that is at least one pixel wide
};

/// Calls visit(i, j) for the columns in view: bases i to j - 1 share a column.
void for_columns(const BaseTrack& track, const TrackView& view, int64_t step,
                 const std::function<void(size_t, size_t)>& visit);

/// The mean of what `value` says of bases i to j - 1, as far as it is a number; NaN if it never is.
template <class Value>
double mean_of(size_t i, size_t j, Value value) {
  double sum = 0, count = 0;
  for (; i < j; ++i)
    if (const double one = value(i); !std::isnan(one)) sum += one, ++count;
  return count > 0 ? sum / count : NAN;
}
/// NaN in the place of an infinite value.
inline double finite_or_none(double value) {
  return std::isfinite(value) ? value : NAN;
}

// Figures along a sequence: a sequence logo, which has at each base the four letters, stacked, as high as
// their probabilities; the whole sequence in a strip, with the mean log-likelihood of the bases and what lies
// where; and a map of every change, with a row for each letter, a column for each base, and as colour how
// much less or more likely than the actual base the other letter is. Maps can have other rows besides.

/// The path of a letter (0 to 3) that fills a box.
std::string letter_path(int letter, double left, double top, double width, double height);
/// Path data for each letter.
using LetterPaths = std::array<std::string, 4>;
/// Draws letters in their colours, those of `pale` paler.
void draw_letters(Svg& out, const LetterPaths& pale, const LetterPaths& full, const LetterPaths& more = {});
void draw_logo(Svg& out, const BaseTrack& track, const TrackView& view, double width, double height);

inline constexpr double kOverviewHeight = 74;

/// Means of ln P of the actual bases over windows of `size` bases: x in bases from 0, y in nats.
std::vector<Point> overview_means(const BaseTrack& track, size_t size);
/// The width of a window that gives a calm line: a 60th of the sequence, at least 12 bases.
size_t overview_window(const BaseTrack& track);
void draw_overview(Svg& out, const BaseTrack& track, double width);

inline constexpr double kHeatLegendHeight = 40;

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

/// The rows A, C, G and T with ln P(letter) - ln P(the actual base), or their means.
HeatRows letter_rows(const BaseTrack& track);
/// The change at which colours end: 19 of 20 of these sizes lie within. Above 1 it is a multiple of a half,
/// below it 1, 2 or 5 in its first digit.
double colour_limit(std::vector<double> sizes);
/// That of letter_rows(), at least 1.
double heatmap_limit(const BaseTrack& track);

/// `track` gives positions and length, and colours end at `limit`.
void draw_heatmap(Svg& out, const BaseTrack& track, const HeatRows& rows, const TrackView& view, double width,
                  double height, double limit);
/// The legend, from 0,0. A map without a reference among its rows leaves that out.
void draw_heatmap_legend(Svg& out, double limit, bool reference = true);

}  // namespace carbon
