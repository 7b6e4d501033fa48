// From pieces of contigs to the windows that give their bases values, each with its request to the model.
//
// A track is one frame on one strand. The windows of all tracks come in the order of the contig, so that the
// values of a base are complete soon after one another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/model/config.hpp"
#include "src/scan/grid.hpp"
#include "src/scan/options.hpp"

namespace carbon {

struct ScanTrack {
  bool reverse = false;
  int frame = 0;
};

/// The tracks of a run for tokens of `bases` bases: the frames of the forward strand, then those of the
/// reverse strand.
std::vector<ScanTrack> scan_tracks(const ScanOptions& options, size_t bases);

/// The bases [begin, end) of a piece that get their values on one track from one window. All positions are
/// those of the track's strand.
struct TrackSpan {
  size_t track = 0;
  ScanWindow window;
  int64_t begin = 0, end = 0;
};

/// One span on its way to the writer.
struct ScanItem {
  std::shared_ptr<const ScanPiece> piece;
  TrackSpan span;
  std::string letters;               // of [span.begin, span.end) on the strand, in upper case
  int64_t first_row_begin = 0;       // the position of the token that the first row of the values speaks of
  bool last = false;                 // of its piece
  std::vector<RequestPtr> requests;  // one, or none if no letter is A, C, G or T

  size_t bytes() const { return sizeof(*this) + letters.size(); }
};

/// Returns bases [begin, end) of the forward strand of a contig, in either case. They lie within the contig.
using ContigBases = std::function<std::string(int64_t begin, int64_t end)>;

class ScanPlanner {
 public:
  ScanPlanner(const ScanGrid& grid, const ScanOptions& options)
      : grid_(grid), level_(options.level), tracks_(scan_tracks(options, static_cast<size_t>(grid.bases))) {}

  const std::vector<ScanTrack>& tracks() const { return tracks_; }

  /// Calls `take` for each span of the piece, in order.
  void spans(const ScanPiece& piece, const std::function<void(const TrackSpan&)>& take) const;

  /// Calls `take` for each span of the piece with its letters and its request. `bases` reads the piece's
  /// contig.
  void plan(const ScanPiece& piece, const ContigBases& bases, const TokenLayout& layout,
            const std::function<void(ScanItem)>& take) const;

 private:
  ScanItem make_item(const std::shared_ptr<const ScanPiece>& piece, const TrackSpan& span,
                     const ContigBases& contig, const TokenLayout& layout) const;

  ScanGrid grid_;
  ScanLevel level_;
  std::vector<ScanTrack> tracks_;
};

}  // namespace carbon
