// Where the windows of `carbon scan` lie on a strand of a contig, and which window gives a base its value
// (docs/conventions.md, "Scan windows").
//
// Pure arithmetic. Positions are 0-based on the strand: those of the reverse strand count from the contig's
// last base. The windows do not depend on the regions that are asked for, and neither does a value.
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace carbon
