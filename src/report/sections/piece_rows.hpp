// How a piece of a sequence is spread over a figure: in rows where its letters can be read, or as a whole.
#pragma once

#include <cstddef>
#include <vector>

#include "src/report/drawing/track.hpp"

namespace carbon {

inline constexpr size_t kMostLetters = 400;  // bases that are drawn as letters
inline constexpr size_t kMostNumbers = 500;  // rows of a table of numbers
inline constexpr double kFigureTitle = 26;   // height in pixels

struct PieceRows {
  double width = 980;  // of the figure, in pixels
  bool letters = true;
  std::vector<TrackView> views;  // one for each row, all of the same span
};

PieceRows rows_of(size_t length);
/// Every how many bases a table of numbers has a row.
size_t numbers_step(size_t length);
/// " every 20th base" for the title of a thinned table; "" if it has all.
std::string thinned_words(size_t length);
/// The text of a drawn value in a table of numbers: six digits, "." for none.
std::string number_text(double value);
/// A line of text above a track, at its left end.
void draw_heading(Svg& out, double left, double y, std::string_view words);

}  // namespace carbon
