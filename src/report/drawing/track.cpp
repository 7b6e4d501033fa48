#include "src/report/drawing/track.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/base/letters.hpp"
#include "src/report/drawing/plot.hpp"
#include "src/report/drawing/svg.hpp"

namespace carbon {

int letter_number(char letter) {
  const size_t at = kLetterNames.find(capital_letter(letter));
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

BaseTrack make_track(std::string sequence, std::span<const LetterLogs> logp, int64_t first) {
  BaseTrack track;
  track.sequence = std::move(sequence);
  track.first = first;
  const size_t length = track.length();
  track.base.resize(length);
  track.lnp.assign(4 * length, kNoValue);
  track.total.resize(length);
  for (size_t i = 0; i < length; ++i) {
    track.base[i] = static_cast<int8_t>(letter_number(track.sequence[i]));
    double sum = 0;
    for (size_t k = 0; k < 4; ++k) {
      track.lnp[4 * i + k] = logp[i][k];
      sum += std::exp(logp[i][k]);
    }
    track.total[i] = std::isnan(sum) ? 0 : std::log(sum);
  }
  return track;
}

bool has_value(const BaseTrack& track, size_t i) {
  return !std::isnan(track.lnp[4 * i]);
}

double probability(const BaseTrack& track, size_t i, int k) {
  return std::exp(track.lnp[4 * i + static_cast<size_t>(k)] - track.total[i]);
}

double log_likelihood(const BaseTrack& track, size_t i) {
  return track.base[i] < 0 ? kNoValue : track.lnp[4 * i + static_cast<size_t>(track.base[i])];
}

double log_ratio(const BaseTrack& track, size_t i, int k) {
  return track.lnp[4 * i + static_cast<size_t>(k)] - log_likelihood(track, i);
}

double letter_entropy(const BaseTrack& track, size_t i) {
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double p = probability(track, i, k);
    if (p > 0) sum -= p * std::log(p);
  }
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

std::string plain_number(double value) {
  char digits[40];
  // Adding zero makes -0 the number that is printed as 0.
  const auto end = std::to_chars(digits, digits + sizeof digits, value + 0.0, std::chars_format::fixed).ptr;
  return {digits, end};
}

void draw_position_axis(Svg& out, const BaseTrack& track, const TrackView& view, double width, double y) {
  const TrackLayout place(view, width);
  const int64_t before = track.first - 1, last = before + static_cast<int64_t>(track.length());
  const auto digits = static_cast<double>(std::to_string(last).size());
  const double apart = std::max(60.0, 9 * digits) / place.unit;  // bases between two numbers
  const double power = std::pow(10, std::floor(std::log10(apart)));
  double step = 1;
  for (const double factor : {1, 2, 5, 10})
    if (factor * power >= apart) {
      step = std::max(1.0, factor * power);
      break;
    }
  const auto from = std::ceil((view.start + static_cast<double>(before)) / step) * step;
  std::string ticks;
  Svg numbers;
  for (double p = std::max(step, from); p <= static_cast<double>(last); p += step) {
    const double at = place.x(p - static_cast<double>(before) - 0.5);  // the middle of the base
    if (at > place.right) break;
    if (at < place.left) continue;
    ticks += "M" + px(at) + " " + plain_number(y) + "v5";
    const std::string number = count_text(static_cast<uint64_t>(p));
    const double room = 3.4 * static_cast<double>(number.size());  // half of what the number takes
    numbers.text(std::min(at, width - room), y + 17, number);
  }
  out.stroke("M" + plain_number(place.left) + " " + plain_number(y) + "H" + plain_number(place.right) + ticks,
             theme::kGrid);
  out.raw(numbers.body());
}

}  // namespace carbon
