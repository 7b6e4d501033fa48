#include "src/report/sections/viewer_data.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/numbers.hpp"

namespace carbon {
namespace {

constexpr int kDigits = 5;  // an error in a probability of at most a hundredth of a per cent

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_row(const BaseTrack& track, size_t i, std::string& out) {
  if (!has_value(track, i)) {
    out += "null";
    return;
  }
  for (size_t k = 0; k < 4; ++k) {
    out += k == 0 ? '[' : ',';
    const double value = track.lnp[4 * i + k];
    if (std::isfinite(value))
      append_general(value, kDigits, out);
    else
      out += "null";  // a probability of zero
  }
  out += ']';
}

}  // namespace

std::string viewer_data(const std::string& name, const BaseTrack& track, std::span<const TrackMark> marks,
                        const std::string& replaces) {
  std::string out = "{\"name\":" + json_text(name) + ",\"start\":" + std::to_string(track.first) +
                    ",\"sequence\":" + json_text(track.sequence) + ",\"replaces\":[" + json_text(replaces) +
                    "],\"marks\":[";
  for (const TrackMark& mark : marks)
    out += (&mark == marks.data() ? "{\"start\":" : ",{\"start\":") + std::to_string(mark.start) +
           ",\"end\":" + std::to_string(mark.end) + ",\"name\":" + json_text(mark.name) + "}";
  out += "],\"logp\":[";
  for (size_t i = 0; i < track.length(); ++i) {
    if (i > 0) out += ',';
    append_row(track, i, out);
  }
  return out + "]}";
}

}  // namespace carbon
