// logo.js in C++. Where a base is too narrow for letters it becomes a bar with the actual base at its foot,
// and where many bases share a pixel, the mean height of the actual base is left.

#include "src/report/drawing/logo.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/report/drawing/theme.hpp"

namespace carbon {
namespace {

constexpr double kAxis = 24, kRow = 18, kTop = 8, kTitle = 22;  // heights in pixels
constexpr double kLetterWidth = 6;                              // narrower than this, a letter cannot be read

// Outlines in a box from 0,0 to 1,1. A letter is stretched to its place, so its shape cannot come from a
// font.
constexpr std::array<std::string_view, 4> kOutlines = {
    "M0 1L.38 0H.62L1 1H.77L.68 .76H.32L.23 1ZM.37 .6H.63L.5 .21Z",
    "M.99 .33C.94 .12 .76 0 .52 0C.2 0 0 .2 0 .5C0 .8 .2 1 .52 1C.76 1 .94 .88 .99 .67L.76 .63"
    "C.73 .76 .65 .83 .52 .83C.33 .83 .23 .71 .23 .5C.23 .29 .33 .17 .52 .17C.65 .17 .73 .24 .76 .37Z",
    "M.98 .31C.93 .11 .75 0 .52 0C.2 0 0 .2 0 .5C0 .8 .2 1 .52 1C.73 1 .9 .92 1 .82V.46H.53V.62H.78V.74"
    "C.72 .79 .63 .83 .53 .83C.34 .83 .23 .71 .23 .5C.23 .29 .34 .17 .52 .17C.64 .17 .72 .23 .76 .34Z",
    "M0 0H1V.17H.62V1H.38V.17H0Z"};

struct Segment {
  char command = 0;
  int count = 0;
  std::array<double, 6> numbers = {};
};

struct Outline {
  size_t count = 0;
  std::array<Segment, 40> segments = {};
};

constexpr bool is_command(char c) {
  return c >= 'A' && c <= 'Z';
}

// The number at the beginning of `text`, which is removed. Its digits over a power of ten are the double that
// is nearest to it, because both are exact.
constexpr double take_number(std::string_view& text) {
  double digits = 0, power = 1;
  bool fraction = false;
  while (!text.empty() && text[0] != ' ' && !is_command(text[0])) {
    if (text[0] == '.') {
      fraction = true;
    } else {
      digits = 10 * digits + (text[0] - '0');
      if (fraction) power *= 10;
    }
    text.remove_prefix(1);
  }
  return digits / power;
}

constexpr Outline parse_outline(std::string_view text) {
  Outline out;
  while (!text.empty()) {
    Segment& segment = out.segments[out.count++];
    segment.command = text[0];
    text.remove_prefix(1);
    while (!text.empty() && !is_command(text[0])) {
      if (text[0] == ' ')
        text.remove_prefix(1);
      else
        segment.numbers[static_cast<size_t>(segment.count++)] = take_number(text);
    }
  }
  return out;
}

constexpr std::array<Outline, 4> kLetters = {parse_outline(kOutlines[0]), parse_outline(kOutlines[1]),
                                             parse_outline(kOutlines[2]), parse_outline(kOutlines[3])};

class LogoDrawing {
 public:
  LogoDrawing(Svg& out, const BaseTrack& track, const TrackView& view, const LogoOptions& options, double top)
      : out_(out),
        track_(track),
        view_(view),
        options_(options),
        place_(view, options.width),
        top_(top),
        foot_(options.height - kAxis - kRow),
        full_(foot_ - top) {}

  void draw() {
    if (place_.step > 1)
      for_columns(track_, view_, place_.step, [&](size_t i, size_t j) { mean(i, j); });
    else
      for_columns(track_, view_, 1, [&](size_t i, size_t) { base(i); });
    scale();
    out_.begin_clip(place_.left, 0, place_.right - place_.left, options_.height);
    out_.path(mark_lines(), theme::kMark);
    out_.path(means_, theme::kLine, " fill-opacity=\"0.75\"");
    const std::string pale = " fill-opacity=\"" + std::string(theme::kPale) + "\" fill-rule=\"evenodd\"";
    for (size_t k = 0; k < 4; ++k) {
      out_.path(others_[k], theme::kLetters[k], pale);
      out_.path(actual_[k], theme::kLetters[k], " fill-rule=\"evenodd\"");
      out_.path(row_[k], theme::kLetters[k], " fill-rule=\"evenodd\"");
    }
    out_.raw(unknown_.body());
    out_.end_clip();
    draw_position_axis(out_, track_, view_, options_.width, options_.height - kAxis);
  }

 private:
  double total(size_t i) const { return (options_.bits ? information(track_, i) / 2 : 1) * full_; }
  double x(size_t i) const { return place_.x(static_cast<double>(i)); }

  void mean(size_t i, size_t j) {
    double sum = 0, count = 0;
    for (size_t b = i; b < j; ++b) {
      if (track_.base[b] < 0 || !has_value(track_, b)) continue;
      sum += total(b) * probability(track_, b, track_.base[b]);
      ++count;
    }
    if (count > 0)
      means_ += "M" + px(x(i)) + " " + plain_number(foot_) + "v" + px(-sum / count) + "H" + px(x(j)) + "V" +
                plain_number(foot_) + "Z";
  }

  void base(size_t i) {
    const bool letters = place_.unit >= kLetterWidth;
    sequence_letter(i, letters);
    if (!has_value(track_, i)) return;
    const double gap = letters ? place_.unit * 0.06 : 0, unit = place_.unit;
    double y = foot_;
    for (const int k : order(i, letters)) {
      const double high = total(i) * probability(track_, i, k);
      y -= high;
      if (high < 0.4) continue;
      const std::string path =
          letters ? letter_path(k, x(i) + gap, y, unit - 2 * gap, high)
                  : "M" + px(x(i)) + " " + px(y) + "h" + px(unit) + "v" + px(high) + "h" + px(-unit) + "Z";
      (k == track_.base[i] ? actual_ : others_)[static_cast<size_t>(k)] += path;
    }
  }

  // From the foot upwards: letters by probability, bars with the actual base first.
  std::array<int, 4> order(size_t i, bool letters) const {
    std::array<int, 4> result = {0, 1, 2, 3};
    const int here = track_.base[i];
    std::stable_sort(result.begin(), result.end(), [&](int a, int b) {
      const auto lnp = [&](int k) { return track_.lnp[4 * i + static_cast<size_t>(k)]; };
      return letters ? lnp(a) < lnp(b) : (a == here) > (b == here);
    });
    return result;
  }

  // The sequence below the stacks.
  void sequence_letter(size_t i, bool letters) {
    const int here = track_.base[i];
    const double unit = place_.unit, wide = std::min(8.0, 0.8 * unit);
    if (here >= 0) {
      row_[static_cast<size_t>(here)] +=
          letters ? letter_path(here, x(i) + (unit - wide) / 2, foot_ + 6, wide, 10)
                  : "M" + px(x(i)) + " " + plain_number(foot_ + 5) + "h" + px(unit) + "v8h" + px(-unit) + "Z";
    } else if (letters) {
      unknown_.text(x(i) + unit / 2, foot_ + 16, std::string_view(track_.sequence).substr(i, 1));
    }
  }

  void scale() {
    std::string grid;
    Svg numbers;
    for (const double part : {0.0, 0.5, 1.0}) {
      grid +=
          "M" + plain_number(place_.left) + " " + px(foot_ - part * full_) + "H" + plain_number(place_.right);
      numbers.text(place_.left - 6, foot_ - part * full_ + 4, plain_number(part * (options_.bits ? 2 : 1)),
                   {.anchor = Anchor::end});
    }
    out_.stroke(grid, theme::kGrid);
    out_.raw(numbers.body());
  }

  std::string mark_lines() const {
    std::string path;
    for (const TrackMark& mark : options_.marks) {
      const std::string from = px(place_.x(static_cast<double>(mark.start - 1)));
      path += "M" + from + " " + plain_number(top_ - 7) + "H" + px(place_.x(static_cast<double>(mark.end))) +
              "v4H" + from + "Z";
    }
    return path;
  }

  Svg& out_;
  const BaseTrack& track_;
  const TrackView& view_;
  const LogoOptions& options_;
  const TrackLayout place_;
  const double top_, foot_, full_;
  std::array<std::string, 4> actual_, others_, row_;  // path data for each letter
  std::string means_;
  Svg unknown_;
};

}  // namespace

std::string letter_path(int letter, double left, double top, double width, double height) {
  const Outline& outline = kLetters[static_cast<size_t>(letter)];
  std::string path;
  for (size_t s = 0; s < outline.count; ++s) {
    const Segment& segment = outline.segments[s];
    path += segment.command;
    for (int i = 0; i < segment.count; ++i) {
      const double v = segment.numbers[static_cast<size_t>(i)];
      const bool vertical = segment.command == 'V' || (segment.command != 'H' && i % 2 == 1);
      if (i > 0) path += ' ';
      path += px(vertical ? top + v * height : left + v * width);
    }
  }
  return path;
}

void draw_logo(Svg& out, const BaseTrack& track, const TrackView& view, const LogoOptions& options) {
  LogoDrawing(out, track, view, options, kTop).draw();
}

std::string logo_picture(const BaseTrack& track, const TrackView& view, const LogoOptions& options,
                         std::string_view title) {
  Svg out;
  LogoDrawing(out, track, view, options, kTop + kTitle).draw();
  return out.picture(options.width, options.height, title);
}

}  // namespace carbon
