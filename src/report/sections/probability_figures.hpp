// The figures of a piece whose bases have probabilities: a logo under the mean log-likelihood, and the map of
// every SNV.
#pragma once

#include <string>
#include <vector>

#include "src/report/drawing/document.hpp"
#include "src/report/sources/base_pieces.hpp"
#include "src/report/sources/genes.hpp"

namespace carbon {

/// What the bases of a track say in sum.
struct TrackSummary {
  size_t values = 0;  // bases with a value
  double mean = 0;    // of ln P of the actual base, in nats
  double right = 0;   // the share of bases whose most likely letter is the actual one
};
TrackSummary summary_of(const BaseTrack& track);

/// `viewer` is whether the figure gets the data of the page's viewer.
Figure logo_figure(const std::string& name, const TablePiece& piece, const BaseTrack& track,
                   const std::vector<Gene>& genes, bool viewer);
Figure map_figure(const std::string& name, const TablePiece& piece, const BaseTrack& track);

}  // namespace carbon
