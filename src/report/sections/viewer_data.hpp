// The data of a figure for the viewer of the page, as JSON.
#pragma once

#include <span>
#include <string>

#include "src/report/drawing/logo.hpp"
#include "src/report/drawing/track.hpp"

namespace carbon {

inline constexpr size_t kMostViewerBases = 50'000;

/// {"name", "start", "sequence", "logp", "marks", "replaces"}: the position of the first base, the letters, a
/// row of four logarithms in five digits or null for each, parts to mark, and the names of figures whose
/// pictures the viewer shows.
std::string viewer_data(const std::string& name, const BaseTrack& track, std::span<const TrackMark> marks,
                        const std::string& replaces);

}  // namespace carbon
