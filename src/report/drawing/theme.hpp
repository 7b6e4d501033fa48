// The colours of figures. They are those of the light theme of the page of carbon serve
// (src/report/figures/figure.js), which test/unit/report_drawing_test.cpp compares.
//
// Colours that must be told apart differ in hue and in lightness, for colour-blind eyes and for grey paper.
// All have a contrast of 3:1 or more with the paper, and text has 4.5:1 or more.
#pragma once

#include <array>
#include <string_view>

namespace carbon::theme {

inline constexpr std::string_view kPaper = "#ffffff", kInk = "#1c2127", kSoft = "#59636e", kGrid = "#d9dee3",
                                  kLine = "#0b5cad", kArea = "#cfe1f4", kMark = "#6b4fa0",
                                  kReference = "#c3c9d0", kNothing = "#eef0f2", kMiddle = "#f7f7f5";
/// Opacity of the letters of a logo that are not the actual base.
inline constexpr std::string_view kPale = "0.36";
/// A, C, G, T.
inline constexpr std::array<std::string_view, 4> kLetters = {"#0a8754", "#1463c4", "#c98500", "#cf3a12"};
/// The two arms of a map of changes, from its middle outwards: less likely (orange), more likely (blue).
inline constexpr std::array<std::string_view, 4> kLess = {"#fcd9b0", "#f2a24e", "#c7640c", "#7a3a05"};
inline constexpr std::array<std::string_view, 4> kMore = {"#cfe3f5", "#84b9e3", "#2f78bd", "#0c3c74"};
/// Series of a chart and groups of points, in the order in which they are given out.
inline constexpr std::array<std::string_view, 8> kSeries = {"#0b5cad", "#c7640c", "#0a8754", "#6b4fa0",
                                                            "#a8286b", "#8a6d00", "#0c7c8c", "#59636e"};

}  // namespace carbon::theme
