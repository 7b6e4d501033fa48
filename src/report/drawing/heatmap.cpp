// heatmap.js in C++.

#include "src/report/drawing/heatmap.hpp"

#include <algorithm>
#include <cmath>

#include "src/report/drawing/theme.hpp"

namespace carbon {
namespace {

constexpr double kTop = 4, kAxis = 24, kTitle = 22, kLegend = 44;  // heights in pixels
constexpr int kShades = 24;  // steps of colour on each side of the middle
constexpr double kLegendBar = 200;

int channel(std::string_view colour, size_t i) {
  const auto digit = [&](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  return 16 * digit(colour[1 + 2 * i]) + digit(colour[2 + 2 * i]);
}

std::string mix(std::string_view from, std::string_view to, double part) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "#";
  for (size_t i = 0; i < 3; ++i) {
    const int a = channel(from, i), b = channel(to, i);
    const auto value = static_cast<size_t>(std::floor(a + (b - a) * part + 0.5));
    out += kDigits[value / 16];
    out += kDigits[value % 16];
  }
  return out;
}

// The colour of a shade, from -kShades (much less likely) to kShades (much more likely).
std::string shade_colour(int shade) {
  const std::array<std::string_view, 4>& arm = shade < 0 ? theme::kLess : theme::kMore;
  const auto stop = [&](size_t i) { return i == 0 ? theme::kMiddle : arm[i - 1]; };
  const double at = static_cast<double>(std::abs(shade)) / kShades * static_cast<double>(arm.size());
  const size_t i = std::min(arm.size() - 1, static_cast<size_t>(std::floor(at)));
  return mix(stop(i), stop(i + 1), at - static_cast<double>(i));
}

// Path data by colour, in the order of first use: few elements, however many cells.
class Colours {
 public:
  void add(std::string_view colour, std::string_view path) {
    auto found = std::find_if(paths_.begin(), paths_.end(), [&](const auto& p) { return p.first == colour; });
    if (found == paths_.end()) found = paths_.insert(found, {std::string(colour), {}});
    found->second += path;
  }
  void write(Svg& out) const {
    for (const auto& [colour, path] : paths_) out.path(path, colour, " shape-rendering=\"crispEdges\"");
  }

 private:
  std::vector<std::pair<std::string, std::string>> paths_;
};

// The mean over bases i to j - 1, without bases that are letter k themselves.
HeatCell letter_cell(const BaseTrack& track, size_t i, size_t j, int k) {
  double sum = 0, count = 0;
  bool reference = false;
  for (size_t b = i; b < j; ++b) {
    const double value = log_ratio(track, b, k);
    if (std::isnan(value)) continue;
    if (track.base[b] == k) {
      reference = true;
    } else {
      sum += value;
      ++count;
    }
  }
  if (std::isnan(sum)) return {};  // some of them are infinite, with both signs
  if (count > 0) return {HeatCell::value, sum / count};
  return {reference ? HeatCell::reference : HeatCell::none, 0};
}

}  // namespace

HeatRows letter_rows(const BaseTrack& track) {
  HeatRows rows;
  for (const char letter : kLetterNames) rows.names.emplace_back(1, letter);
  rows.cell = [&track](size_t i, size_t j, size_t row) {
    return letter_cell(track, i, j, static_cast<int>(row));
  };
  return rows;
}

double heatmap_limit(const BaseTrack& track) {
  std::vector<double> values;
  const size_t stride = std::max<size_t>(1, track.length() / 5000);  // a sample of a long sequence will do
  for (size_t i = 0; i < track.length(); i += stride) {
    if (track.base[i] < 0) continue;
    for (int k = 0; k < 4; ++k) {
      const double v = std::abs(log_ratio(track, i, k));
      if (k != track.base[i] && std::isfinite(v)) values.push_back(v);
    }
  }
  std::sort(values.begin(), values.end());
  const double most =
      values.empty() ? 1 : values[static_cast<size_t>(0.95 * static_cast<double>(values.size() - 1))];
  return std::max(1.0, std::ceil(2 * most) / 2);
}

void draw_heatmap(Svg& out, const BaseTrack& track, const HeatRows& rows, const TrackView& view,
                  const HeatmapOptions& options) {
  const TrackLayout place(view, options.width);
  const double high = (options.height - kTop - kAxis) / static_cast<double>(rows.names.size());
  const auto top = [&](size_t row) { return kTop + static_cast<double>(row) * high; };
  const double wide = place.unit * static_cast<double>(place.step);
  const double inset = wide >= 5 ? 0.5 : 0;  // a seam between cells that are wide enough
  Colours cells;
  std::string dots;
  for_columns(track, view, place.step, [&](size_t i, size_t j) {
    const double x = place.x(static_cast<double>(i)), span = static_cast<double>(j - i);
    for (size_t k = 0; k < rows.names.size(); ++k) {
      const std::string box = "M" + px(x + inset) + " " + px(top(k) + 0.5) + "h" +
                              px(place.unit * span - 2 * inset) + "v" + px(high - 1) + "H" + px(x + inset) +
                              "Z";
      const HeatCell cell = rows.cell(i, j, k);
      if (cell.kind == HeatCell::none) {
        cells.add(theme::kNothing, box);
      } else if (cell.kind == HeatCell::value) {
        const double part = std::clamp(cell.change / options.limit, -1.0, 1.0);
        cells.add(shade_colour(static_cast<int>(std::floor(part * kShades + 0.5))), box);
      } else {
        cells.add(theme::kReference, box);
        if (wide < 5) continue;
        const double r = std::min(3.2, wide * 0.28);
        const std::string arc = "a" + px(r) + " " + px(r) + " 0 1 0 ";
        dots += "M" + px(x + wide / 2 - r) + " " + px(top(k) + high / 2) + arc + px(2 * r) + " 0" + arc +
                px(-2 * r) + " 0Z";
      }
    }
  });
  out.begin_clip(place.left, 0, place.right - place.left, options.height);
  cells.write(out);
  out.path(dots, theme::kInk);
  out.end_clip();
  for (size_t k = 0; k < rows.names.size(); ++k)
    out.text(place.left - 12, top(k) + high / 2 + 4, rows.names[k], {.bold = true});
  draw_position_axis(out, track, view, options.width, options.height - kAxis);
}

void draw_heatmap_legend(Svg& out, double limit, bool reference) {
  const double one = kLegendBar / (2 * kShades + 1);
  for (int s = -kShades; s <= kShades; ++s) out.box((s + kShades) * one, 0, one + 0.3, 12, shade_colour(s));
  const std::string number = plain_number(limit);
  out.text(0, 25, "\u2264 \u2212" + number, {.anchor = Anchor::start});
  out.text(kLegendBar / 2, 25, "0");
  out.text(kLegendBar, 25, "\u2265 " + number + " nats", {.anchor = Anchor::end});
  out.text(0, 38, "less likely", {.anchor = Anchor::start});
  out.text(kLegendBar, 38, "more likely", {.anchor = Anchor::end});
  if (reference) {
    out.box(226, 0, 14, 12, theme::kReference);
    out.dot(233, 6, 3, theme::kInk);
    out.text(246, 10, "reference", {.anchor = Anchor::start});
  }
  out.raw("<rect x=\"226\" y=\"20\" width=\"14\" height=\"12\" fill=\"" + std::string(theme::kNothing) +
          "\" stroke=\"" + std::string(theme::kGrid) + "\"/>");
  out.text(246, 30, "no value", {.anchor = Anchor::start});
}

std::string heatmap_picture(const BaseTrack& track, const TrackView& view, const HeatmapOptions& options,
                            std::string_view title) {
  Svg map, legend, out;
  draw_heatmap(map, track, letter_rows(track), view, options);
  draw_heatmap_legend(legend, options.limit);
  out.add(map, 0, kTitle);
  out.add(legend, TrackLayout(view, options.width).left, kTitle + options.height);
  return out.picture(options.width, options.height + kTitle + kLegend, title);
}

}  // namespace carbon
