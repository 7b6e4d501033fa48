#include "src/report/sections/effect_tracks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/theme.hpp"

namespace carbon {
namespace {

constexpr double kMargin = 7;  // pixels above and below

// Where a value lies between the ends of the axis, from the top.
struct EffectPlace {
  double top, foot, least, most;

  EffectPlace(const EffectOptions& options, bool upside_down)
      : top(kMargin),
        foot(options.height - kMargin),
        least(upside_down ? -options.most : options.least),
        most(upside_down ? -options.least : options.most) {}

  double y(double value) const { return top + (most - value) / (most - least) * (foot - top); }
};

// The ends of the axis and zero, without one that is too close to zero to be read.
void draw_axis(Svg& out, const TrackLayout& place, const EffectPlace& effect) {
  std::string grid;
  const std::array<double, 3> values = {effect.least, 0, effect.most};
  for (const double& value : values) {
    const double y = effect.y(value);
    if (&value != &values[1] && std::abs(y - effect.y(0)) < 12) continue;
    grid += "M" + px(place.left) + " " + px(y) + "H" + px(place.right);
    out.text(place.left - 6, y + 4, value_text(value), {.anchor = Anchor::end});
  }
  out.stroke(grid, theme::kGrid);
}

}  // namespace

EffectOptions effect_axis(const MeanEffects& effects, double width, double height) {
  double least = 0, most = 0;
  for (const double value : effects)
    if (std::isfinite(value)) least = std::min(least, value), most = std::max(most, value);
  if (least == 0 && most == 0) most = 1;
  const Axis axis = round_axis("", least, most);
  return {width, height, std::min(axis.least, 0.0), std::max(axis.most, 0.0)};
}

void draw_effects(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                  const EffectOptions& options) {
  const TrackLayout place(view, options.width);
  const EffectPlace effect(options, false);
  draw_axis(out, place, effect);
  std::string below, above;
  const double zero = effect.y(0), gap = place.unit >= 4 ? 0.5 : 0;
  for_columns(track, view, place.step, [&](size_t i, size_t j) {
    double sum = 0, count = 0;
    for (size_t b = i; b < j; ++b)
      if (std::isfinite(effects[b])) sum += effects[b], ++count;
    if (count == 0) return;
    const double x = place.x(static_cast<double>(i)), y = effect.y(sum / count);
    const double wide = place.unit * static_cast<double>(j - i) - 2 * gap;
    (sum < 0 ? below : above) += box_path(x + gap, std::min(y, zero), wide, std::abs(y - zero));
  });
  out.begin_clip(place.left, 0, place.right - place.left, options.height);
  out.path(below, theme::kLess[2]);
  out.path(above, theme::kMore[2]);
  out.end_clip();
}

void draw_effect_logo(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                      const EffectOptions& options) {
  const TrackLayout place(view, options.width);
  const EffectPlace effect(options, true);
  draw_axis(out, place, effect);
  std::array<std::string, 4> lowering, raising;
  for_columns(track, view, 1, [&](size_t i, size_t) {
    if (track.base[i] < 0 || !std::isfinite(effects[i])) return;
    const double y = effect.y(-effects[i]), zero = effect.y(0), high = std::abs(y - zero);
    if (high < 0.4) return;
    const auto k = static_cast<size_t>(track.base[i]);
    (effects[i] < 0 ? lowering : raising)[k] +=
        letter_path(track.base[i], place.x(static_cast<double>(i)) + 0.06 * place.unit, std::min(y, zero),
                    0.88 * place.unit, high);
  });
  out.begin_clip(place.left, 0, place.right - place.left, options.height);
  for (size_t k = 0; k < 4; ++k) {
    out.path(raising[k], theme::kLetters[k],
             " fill-opacity=\"" + std::string(theme::kPale) + "\" fill-rule=\"evenodd\"");
    out.path(lowering[k], theme::kLetters[k], " fill-rule=\"evenodd\"");
  }
  out.end_clip();
}

}  // namespace carbon
