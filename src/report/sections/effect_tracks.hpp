// Tracks of a saturation mutagenesis: the mean effect of the changes of each base, as bars, and as the
// letters of the sequence, which stand as high as changing them lowers the score.
#pragma once

#include <vector>

#include "src/report/drawing/logo.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {

/// The mean change of each base of a piece; kNoValue where there is none.
using MeanEffects = std::vector<double>;

struct EffectOptions {
  double width = 0, height = 60;
  double least = -1, most = 1;  // the ends of the axis, with 0 between them
};

/// Round ends of an axis for these effects.
EffectOptions effect_axis(const MeanEffects& effects, double width, double height);
/// Bars from zero: orange for effects below, blue for those above. Columns of several bases show their mean.
void draw_effects(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                  const EffectOptions& options);
/// Letters from zero: upwards if changing the base lowers the score, downwards and pale if it raises it. The
/// axis is that of the effects, upside down. Only for bases that are wide enough for letters.
void draw_effect_logo(Svg& out, const BaseTrack& track, const MeanEffects& effects, const TrackView& view,
                      const EffectOptions& options);

}  // namespace carbon
