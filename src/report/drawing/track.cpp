#include "src/report/drawing/track.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "src/base/letters.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr double kAxis = 24, kRow = 18, kTop = 8;  // heights in pixels
constexpr double kLetterWidth = 6;                 // narrower than this, a letter cannot be read

// Positions below a figure, counted from the track's first, at this height.
void draw_position_axis(Svg& out, const BaseTrack& track, const TrackView& view, double width, double y) {
  const TrackLayout place(view, width);
  const int64_t before = track.first - 1, last = before + static_cast<int64_t>(track.length());
  const auto digits = static_cast<double>(std::to_string(last).size());
  const double apart = std::max(60.0, 9 * digits) / place.unit;  // bases between two numbers
  const double step = std::max(1.0, round_step(apart));
  const auto from = std::ceil((view.start + static_cast<double>(before)) / step) * step;
  std::string ticks;
  Svg numbers;
  for (double p = std::max(step, from); p <= static_cast<double>(last); p += step) {
    const double at = place.x(p - static_cast<double>(before) - 0.5);  // the middle of the base
    if (at > place.right) break;
    if (at < place.left) continue;
    ticks += "M" + px(at, y) + "v5";
    const std::string number = count_text(static_cast<uint64_t>(p));
    const double room = 3.4 * static_cast<double>(number.size());  // half of what the number takes
    numbers.text(std::min(at, width - room), y + 17, number);
  }
  out.stroke("M" + px(place.left, y) + "H" + px(place.right) + ticks, theme::kGrid);
  out.raw(numbers.body());
}

class LogoDrawing {
 public:
  LogoDrawing(Svg& out, const BaseTrack& track, const TrackView& view, double width, double height)
      : out_(out), track_(track), view_(view), width_(width), height_(height) {}

  void draw() {
    if (place_.step > 1)
      for_columns(track_, view_, place_.step, [&](size_t i, size_t j) { mean(i, j); });
    else
      for_columns(track_, view_, 1, [&](size_t i, size_t) { base(i); });
    scale();
    out_.begin_clip(place_.left, 0, place_.right - place_.left, height_);
    out_.path(means_, theme::kLine, " fill-opacity=\"0.75\"");
    draw_letters(out_, others_, actual_, row_);
    out_.raw(unknown_.body());
    out_.end_clip();
    draw_position_axis(out_, track_, view_, width_, height_ - kAxis);
  }

 private:
  double x(size_t i) const { return place_.x(static_cast<double>(i)); }

  void mean(size_t i, size_t j) {
    const double mean = mean_of(i, j, [&](size_t b) {
      const bool known = track_.base[b] >= 0 && track_.has_value(b);
      return known ? full_ * track_.probability(b, track_.base[b]) : NAN;
    });
    if (!std::isnan(mean))
      means_ += "M" + px(x(i), foot_) + "v" + px(-mean) + "H" + px(x(j)) + "V" + px(foot_) + "Z";
  }

  void base(size_t i) {
    const bool letters = place_.unit >= kLetterWidth;
    sequence_letter(i, letters);
    if (!track_.has_value(i)) return;
    const double gap = letters ? place_.unit * 0.06 : 0, unit = place_.unit;
    double y = foot_;
    for (const int k : order(i, letters)) {
      const double high = full_ * track_.probability(i, k);
      y -= high;
      if (high < 0.4) continue;
      (k == track_.base[i] ? actual_ : others_)[static_cast<size_t>(k)] +=
          letters ? letter_path(k, x(i) + gap, y, unit - 2 * gap, high) : box_path(x(i), y, unit, high);
    }
  }

  // From the foot upwards: letters by probability, bars with the actual base first.
  std::array<int, 4> order(size_t i, bool letters) const {
    std::array<int, 4> result = {0, 1, 2, 3};
    const int here = track_.base[i];
    std::stable_sort(result.begin(), result.end(), [&](int a, int b) {
      return letters ? track_.log_probability(i, a) < track_.log_probability(i, b)
                     : (a == here) > (b == here);
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
                  : box_path(x(i), foot_ + 5, unit, 8);
    } else if (letters) {
      unknown_.text(x(i) + unit / 2, foot_ + 16, std::string_view(track_.sequence).substr(i, 1));
    }
  }

  void scale() {
    std::string grid;
    Svg numbers;
    for (const double part : {0.0, 0.5, 1.0}) {
      grid += "M" + px(place_.left, foot_ - part * full_) + "H" + px(place_.right);
      numbers.text(place_.left - 6, foot_ - part * full_ + 4, px(part), {.anchor = Anchor::end});
    }
    out_.stroke(grid, theme::kGrid);
    out_.raw(numbers.body());
  }

  Svg& out_;
  const BaseTrack& track_;
  const TrackView& view_;
  const double width_, height_;
  const TrackLayout place_ = {view_, width_};
  const double foot_ = height_ - kAxis - kRow, full_ = foot_ - kTop;
  LetterPaths actual_, others_, row_;
  std::string means_;
  Svg unknown_;
};

constexpr double kHeatTop = 4;  // pixels
constexpr int kShades = 24;     // steps of colour on each side of the middle
constexpr double kLegendBar = 200;

// The colour of a shade, from -kShades (much less likely) to kShades (much more likely).
std::string shade_colour(int shade) {
  const std::array<std::string_view, 4>& arm = shade < 0 ? theme::kLess : theme::kMore;
  const auto stop = [&](size_t i) { return i == 0 ? theme::kMiddle : arm[i - 1]; };
  const double at = static_cast<double>(std::abs(shade)) / kShades * static_cast<double>(arm.size());
  const size_t i = std::min(arm.size() - 1, static_cast<size_t>(std::floor(at)));
  return mix_colours(stop(i), stop(i + 1), at - static_cast<double>(i));
}

std::string cell_colour(const HeatCell& cell, double limit) {
  if (cell.kind == HeatCell::none) return std::string(theme::kNothing);
  if (cell.kind == HeatCell::reference) return std::string(theme::kReference);
  const double part = std::clamp(cell.change / limit, -1.0, 1.0);
  return shade_colour(static_cast<int>(std::floor(part * kShades + 0.5)));
}

// The mean over bases i to j - 1, without bases that are letter k themselves.
HeatCell letter_cell(const BaseTrack& track, size_t i, size_t j, int k) {
  bool reference = false, others = false;
  const double mean = mean_of(i, j, [&](size_t b) {
    const double value = track.log_ratio(b, k);
    if (!std::isnan(value)) (track.base[b] == k ? reference : others) = true;
    return track.base[b] == k ? NAN : value;
  });
  if (!others) return {reference ? HeatCell::reference : HeatCell::none, 0};
  // Of infinite values with both signs there is no mean.
  return std::isnan(mean) ? HeatCell{} : HeatCell{HeatCell::value, mean};
}

}  // namespace

BaseTrack make_track(std::string sequence, std::span<const LetterLogs> logp, int64_t first) {
  BaseTrack track;
  track.sequence = std::move(sequence);
  track.first = first;
  const size_t length = track.length();
  track.base.resize(length);
  track.lnp.assign(4 * length, NAN);
  track.total.resize(length);
  for (size_t i = 0; i < length; ++i) {
    const size_t letter = kLetterNames.find(capital_letter(track.sequence[i]));
    track.base[i] = letter == kLetterNames.npos ? int8_t{-1} : static_cast<int8_t>(letter);
    double sum = 0;
    for (size_t k = 0; k < 4; ++k) {
      track.lnp[4 * i + k] = logp[i][k];
      sum += std::exp(logp[i][k]);
    }
    track.total[i] = std::isnan(sum) ? 0 : std::log(sum);
  }
  return track;
}

double BaseTrack::entropy(size_t i) const {
  double sum = 0;
  for (int k = 0; k < 4; ++k)
    if (const double p = probability(i, k); p > 0) sum -= p * std::log(p);
  return sum;
}

TrackLayout::TrackLayout(const TrackView& view, double width)
    : start(view.start), left(width < 520 ? 32 : 46), right(width - 12) {
  const double inner = std::max(1.0, width - left - 12);
  unit = inner / (view.end - view.start);
  step = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(1 / unit)));
}

void for_columns(const BaseTrack& track, const TrackView& view, int64_t step,
                 const std::function<void(size_t, size_t)>& visit) {
  const auto length = static_cast<int64_t>(track.length());
  const int64_t end = std::min(length, static_cast<int64_t>(std::ceil(view.end)));
  const double grid = std::floor(view.start / static_cast<double>(step)) * static_cast<double>(step);
  for (int64_t i = std::max<int64_t>(0, static_cast<int64_t>(grid)); i < end; i += step)
    visit(static_cast<size_t>(i), static_cast<size_t>(std::min(i + step, length)));
}

std::string letter_path(int letter, double left, double top, double width, double height) {
  const std::string_view outline = theme::kOutlines[letter];
  std::string path;
  bool vertical = false, turns = true;  // whether a number is y, and whether x and y take turns
  for (const char *at = outline.data(), *end = at + outline.size(); at < end;) {
    double value = 0;
    const auto [next, problem] = std::from_chars(at, end, value);
    if (problem == std::errc()) {
      path += px(vertical ? top + value * height : left + value * width);
      vertical = vertical != turns;
      at = next;
    } else {  // a command, or the space between two numbers
      if (*at != ' ') vertical = *at == 'V', turns = *at != 'V' && *at != 'H';
      path += *at++;
    }
  }
  return path;
}

void draw_letters(Svg& out, const LetterPaths& pale, const LetterPaths& full, const LetterPaths& more) {
  constexpr std::string_view kHoles = " fill-rule=\"evenodd\"";
  for (size_t k = 0; k < 4; ++k) {
    out.path(pale[k], theme::kLetters[k],
             " fill-opacity=\"" + std::string(theme::kPale) + "\"" + std::string(kHoles));
    out.path(full[k], theme::kLetters[k], kHoles);
    out.path(more[k], theme::kLetters[k], kHoles);
  }
}

void draw_logo(Svg& out, const BaseTrack& track, const TrackView& view, double width, double height) {
  LogoDrawing(out, track, view, width, height).draw();
}

std::vector<Point> overview_means(const BaseTrack& track, size_t size) {
  std::vector<Point> result;
  const size_t length = track.length(), step = std::max<size_t>(1, size / 2);
  for (size_t start = 0; start < length; start += step) {
    const size_t end = std::min(length, start + size);
    const double mean =
        mean_of(start, end, [&](size_t i) { return finite_or_none(track.log_likelihood(i)); });
    if (!std::isnan(mean)) result.push_back({static_cast<double>(start + end) / 2, mean});
    if (end == length) break;
  }
  return result;
}

size_t overview_window(const BaseTrack& track) {
  return std::max<size_t>(12,
                          static_cast<size_t>(std::floor(static_cast<double>(track.length()) / 60 + 0.5)));
}

void draw_overview(Svg& out, const BaseTrack& track, double width) {
  const TrackLayout place({0, static_cast<double>(track.length())}, width);
  const double top = 6, foot = kOverviewHeight - 6;
  const std::vector<Point> means = overview_means(track, overview_window(track));
  double lowest = -2;
  for (const Point& m : means) lowest = std::min(lowest, m.y);
  const auto y = [&](double value) { return top + value / lowest * (foot - top); };
  std::string line;
  for (const Point& m : means) line += (line.empty() ? "M" : "L") + px(place.x(m.x), y(m.y));
  const std::string left = px(place.left), right = px(place.right), low = px(foot);
  if (!means.empty()) {
    out.path(line + "L" + px(place.x(means.back().x)) + " " + low + "L" + px(place.x(means.front().x)) + " " +
                 low + "Z",
             theme::kArea);
    out.stroke(line, theme::kLine, 1.5, " stroke-linejoin=\"round\"");
  }
  const double guess = y(std::log(1.0 / 4));  // what guessing would reach
  out.stroke("M" + left + " " + px(guess) + "H" + right, theme::kSoft, 1, " stroke-dasharray=\"3 3\"");
  out.stroke("M" + left + " " + px(top) + "H" + right + "M" + left + " " + low + "H" + right, theme::kGrid);
  out.text(place.left - 6, top + 4, "0", {.anchor = Anchor::end});
  out.text(place.left - 6, guess + 4, "\u22121.4", {.anchor = Anchor::end});
}

HeatRows letter_rows(const BaseTrack& track) {
  HeatRows rows;
  for (const char letter : kLetterNames) rows.names.emplace_back(1, letter);
  rows.cell = [&track](size_t i, size_t j, size_t row) {
    return letter_cell(track, i, j, static_cast<int>(row));
  };
  return rows;
}

double colour_limit(std::vector<double> sizes) {
  if (sizes.empty()) return 1;
  const auto at = sizes.begin() + static_cast<ptrdiff_t>(0.95 * static_cast<double>(sizes.size() - 1));
  std::nth_element(sizes.begin(), at, sizes.end());
  if (*at > 1) return std::ceil(2 * *at) / 2;
  return round_step(std::max(1e-6, *at));
}

double heatmap_limit(const BaseTrack& track) {
  std::vector<double> sizes;
  const size_t stride = std::max<size_t>(1, track.length() / 5000);  // a sample of a long sequence will do
  for (size_t i = 0; i < track.length(); i += stride) {
    if (track.base[i] < 0) continue;
    for (int k = 0; k < 4; ++k) {
      const double size = std::abs(track.log_ratio(i, k));
      if (k != track.base[i] && std::isfinite(size)) sizes.push_back(size);
    }
  }
  return std::max(1.0, colour_limit(std::move(sizes)));
}

void draw_heatmap(Svg& out, const BaseTrack& track, const HeatRows& rows, const TrackView& view, double width,
                  double height, double limit) {
  const TrackLayout place(view, width);
  const double high = (height - kHeatTop - kAxis) / static_cast<double>(rows.names.size());
  const auto top = [&](size_t row) { return kHeatTop + static_cast<double>(row) * high; };
  const double wide = place.unit * static_cast<double>(place.step);
  const double inset = wide >= 5 ? 0.5 : 0;  // a seam between cells that are wide enough
  std::map<std::string, std::string> cells;  // paths by their colour: few elements, however many cells
  std::string dots;
  for_columns(track, view, place.step, [&](size_t i, size_t j) {
    const double x = place.x(static_cast<double>(i)), span = static_cast<double>(j - i);
    for (size_t k = 0; k < rows.names.size(); ++k) {
      const std::string box = "M" + px(x + inset, top(k) + 0.5) + "h" + px(place.unit * span - 2 * inset) +
                              "v" + px(high - 1) + "H" + px(x + inset) + "Z";
      const HeatCell cell = rows.cell(i, j, k);
      cells[cell_colour(cell, limit)] += box;
      if (cell.kind == HeatCell::reference && wide >= 5)
        dots += marker_path(Marker::circle, x + wide / 2, top(k) + high / 2, std::min(3.2, wide * 0.28));
    }
  });
  out.begin_clip(place.left, 0, place.right - place.left, height);
  for (const auto& [colour, path] : cells) out.path(path, colour, " shape-rendering=\"crispEdges\"");
  out.path(dots, theme::kInk);
  out.end_clip();
  for (size_t k = 0; k < rows.names.size(); ++k)
    out.text(place.left - 12, top(k) + high / 2 + 4, rows.names[k], {.bold = true});
  draw_position_axis(out, track, view, width, height - kAxis);
}

void draw_heatmap_legend(Svg& out, double limit, bool reference) {
  const double one = kLegendBar / (2 * kShades + 1);
  for (int s = -kShades; s <= kShades; ++s)
    out.path(box_path((s + kShades) * one, 0, one + 0.3, 12), shade_colour(s));
  const std::string number = six_digits(limit);
  out.text(0, 25, "\u2264 \u2212" + number, {.anchor = Anchor::start});
  out.text(kLegendBar / 2, 25, "0");
  out.text(kLegendBar, 25, "\u2265 " + number + " nats", {.anchor = Anchor::end});
  out.text(0, 38, "less likely", {.anchor = Anchor::start});
  out.text(kLegendBar, 38, "more likely", {.anchor = Anchor::end});
  if (reference) {
    out.path(box_path(226, 0, 14, 12), theme::kReference);
    out.path(marker_path(Marker::circle, 233, 6, 3), theme::kInk);
    out.text(246, 10, "reference", {.anchor = Anchor::start});
  }
  out.path(box_path(226, 20, 14, 12), theme::kNothing, " stroke=\"" + std::string(theme::kGrid) + "\"");
  out.text(246, 30, "no value", {.anchor = Anchor::start});
}

}  // namespace carbon
