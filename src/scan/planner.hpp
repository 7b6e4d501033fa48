// From pieces of contigs to the windows that give their bases values, each with its request to the model
// (docs/conventions.md, "Scan windows").
//
// Where the windows lie on a strand of a contig, and which window gives a base its value, is pure arithmetic.
// Positions are 0-based on the strand: those of the reverse strand count from the contig's last base. The
// windows do not depend on the regions that are asked for, and neither does a value.
//
// A track is one frame on one strand. The windows of all tracks come in the order of the contig, so that the
// values of a base are complete soon after one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/engine/request.hpp"
#include "src/model/config.hpp"
#include "src/scan/pieces.hpp"
#include "src/scan/run.hpp"

namespace carbon {

/// Window number w of frame f has `window` tokens and starts at base f + bases * stride * w.
struct ScanGrid {
  int64_t bases = 0;               // of a token; frames are 0 to bases - 1
  int64_t context = 0;             // bp: a base has at least so many to its left, except in window 0
  int64_t window = 0, stride = 0;  // tokens
};

inline constexpr int64_t kMostScanContext = 24000;  // bp, of the default

/// 24,000 bp, or about half of a window where the model's context is too short for that.
int64_t default_scan_context(size_t max_positions, size_t bases);
/// min(max_positions - 1, 3 * context / bases) tokens per window, for tokens of `bases` bases. Throws Error
/// unless the context is a positive multiple of that number that leaves room for one more token.
ScanGrid make_scan_grid(int64_t context, size_t max_positions, size_t bases);

/// A window [begin, end), which may reach beyond the contig's end, and the bases [take, end) that get their
/// values from it.
struct ScanWindow {
  int64_t begin = 0, take = 0, end = 0;
};

/// The window of `frame` that gives base `position` its value: the first one in which the base has enough
/// context, or window 0. `position` >= `frame`; the bases before have no value in this frame.
ScanWindow window_of(const ScanGrid& grid, int64_t frame, int64_t position);

struct ScanTrack {
  bool reverse = false;
  int frame = 0;
};

/// The `count` frames that are read on each strand, for tokens of `bases` bases: for six of them 0; 0,3;
/// 0,2,4; or all.
std::vector<int> frames_of(int count, size_t bases);

/// The tracks of a run for tokens of `bases` bases: the frames of the forward strand, then those of the
/// reverse strand.
std::vector<ScanTrack> scan_tracks(const ScanOptions& options, size_t bases);

/// The bases [begin, end) of a piece that get their values on one track from one window, from the first to
/// the last that is wanted. All positions are those of the track's strand.
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
