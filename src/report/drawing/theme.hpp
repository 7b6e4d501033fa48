// The colours of figures and the outlines of letters. Those that the page of carbon serve has, too, stand in
// src/report/figures/figure.js and logo.js, from which the build makes figure_design.h.
//
// Colours that must be told apart differ in hue and in lightness, for colour-blind eyes and for grey paper.
// All have a contrast of 3:1 or more with the paper, and text has 4.5:1 or more.
#pragma once

#include <array>
#include <string_view>

namespace carbon::theme {

struct Colours {
  std::string_view paper, ink, soft, grid, line, area, mark;
  std::string_view pale;  // the opacity of the letters of a logo that are not the actual base
  std::string_view reference, nothing, middle;
  std::array<std::string_view, 4> letters;     // A, C, G, T
  std::array<std::string_view, 4> less, more;  // the two arms of a map of changes, from its middle outwards
};

// kLight, and kOutlines of A, C, G and T in a box from 0,0 to 1,1.
#include "figure_design.h"

inline constexpr std::string_view kPaper = kLight.paper, kInk = kLight.ink, kSoft = kLight.soft,
                                  kGrid = kLight.grid, kLine = kLight.line, kArea = kLight.area,
                                  kMark = kLight.mark, kPale = kLight.pale, kReference = kLight.reference,
                                  kNothing = kLight.nothing, kMiddle = kLight.middle;
inline constexpr std::array<std::string_view, 4> kLetters = kLight.letters, kLess = kLight.less,
                                                 kMore = kLight.more;
/// Series of a chart and groups of points, in the order in which they are given out.
inline constexpr std::array<std::string_view, 8> kSeries = {"#0b5cad", "#c7640c", "#0a8754", "#6b4fa0",
                                                            "#a8286b", "#8a6d00", "#0c7c8c", "#59636e"};

}  // namespace carbon::theme
