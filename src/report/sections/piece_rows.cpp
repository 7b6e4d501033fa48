#include "src/report/sections/piece_rows.hpp"

#include <algorithm>
#include <cmath>

#include "src/base/numbers.hpp"

namespace carbon {
namespace {

constexpr size_t kInRow = 100, kFewest = 30;   // bases in a row at most, and the span of one that has fewer
constexpr double kWidest = 16, kMargins = 58;  // pixels: a base, both margins

}  // namespace

PieceRows rows_of(size_t length) {
  PieceRows out;
  out.letters = length <= kMostLetters;
  const size_t rows = out.letters ? std::max<size_t>(1, (length + kInRow - 1) / kInRow) : 1;
  const size_t span = std::max(kFewest, (length + rows - 1) / rows);
  for (size_t r = 0; r < rows; ++r)
    out.views.push_back({static_cast<double>(r * span), static_cast<double>((r + 1) * span)});
  if (out.letters) out.width = std::min(kMargins + kWidest * static_cast<double>(span), out.width);
  return out;
}

size_t numbers_step(size_t length) {
  return std::max<size_t>(1, (length + kMostNumbers - 1) / kMostNumbers);
}

std::string thinned_words(size_t length) {
  const size_t step = numbers_step(length);
  if (step == 1) return {};
  const size_t last = step % 10;
  const bool teens = step % 100 / 10 == 1;
  const char* ending = teens || last == 0 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd";
  return "; every " + std::to_string(step) + ending + " base";
}

std::string number_text(double value) {
  if (std::isnan(value)) return ".";
  std::string text;
  append_general(value, 6, text);
  return text;
}

void draw_heading(Svg& out, double left, double y, std::string_view words) {
  out.text(left, y, words, {.anchor = Anchor::start});
}

}  // namespace carbon
