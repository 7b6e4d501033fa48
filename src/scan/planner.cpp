#include "src/scan/planner.hpp"

#include <algorithm>
#include <optional>

#include "src/base/error.hpp"
#include "src/sampling/base_scores.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

int64_t default_scan_context(size_t max_positions, size_t bases) {
  const auto kmers = static_cast<int64_t>(max_positions) - 1, length = static_cast<int64_t>(bases);
  return 2 * kMostScanContext > length * kmers ? length * (kmers / 3) : kMostScanContext;
}

ScanGrid make_scan_grid(int64_t context, size_t max_positions, size_t bases) {
  const auto kmers = static_cast<int64_t>(max_positions) - 1, length = static_cast<int64_t>(bases);
  const int64_t largest = length * (kmers - 1);
  const std::string given = "a context of " + std::to_string(context) + " bp";
  if (context > largest)
    throw SettingError("scan", "context",
                       given + " does not fit the model's context of " + std::to_string(max_positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--context}"});
  if (context <= 0 || context % length != 0)
    throw SettingError("scan", "context",
                       given + " cannot be used; expected a positive multiple of " + std::to_string(length),
                       {"set it with {--context}"});
  ScanGrid grid{length, context, std::min(kmers, 3 * context / length), 0};
  grid.stride = grid.window - context / length;
  return grid;
}

ScanWindow window_of(const ScanGrid& grid, int64_t frame, int64_t position) {
  const int64_t length = grid.bases * grid.window, step = grid.bases * grid.stride;
  const int64_t behind_first = position - frame - length;  // bases after window 0, which has no context
  const int64_t index = behind_first < 0 ? 0 : 1 + behind_first / step;
  const int64_t begin = frame + index * step;
  return {begin, index == 0 ? begin : begin + grid.context, begin + length};
}

namespace {

// Bases [begin, end) of a strand of a contig of `length` bases, in upper case.
std::string strand_bases(const ContigBases& contig, int64_t length, bool reverse, int64_t begin,
                         int64_t end) {
  if (!reverse) return to_upper(contig(begin, end));
  return to_upper(reverse_complement(contig(length - end, length - begin)));
}

}  // namespace

std::vector<int> frames_of(int count, size_t bases) {
  std::vector<int> frames;
  for (int i = 0; i < count; ++i) frames.push_back(i * static_cast<int>(bases) / count);
  return frames;
}

std::vector<ScanTrack> scan_tracks(const ScanOptions& options, size_t bases) {
  std::vector<ScanTrack> tracks;
  for (const bool reverse : {false, true}) {
    if (options.strand == (reverse ? StrandChoice::forward : StrandChoice::reverse)) continue;
    for (const int frame : frames_of(options.frames, bases)) tracks.push_back({reverse, frame});
  }
  return tracks;
}

void ScanPlanner::spans(const ScanPiece& piece, const std::function<void(const TrackSpan&)>& take) const {
  // The next wanted base of the contig for which each track is not planned.
  std::vector<int64_t> planned(tracks_.size(), piece.next(piece.begin));
  for (;;) {
    const auto least = std::min_element(planned.begin(), planned.end());
    if (*least >= piece.end) return;
    const auto number = static_cast<size_t>(least - planned.begin());
    const auto [reverse, frame] = tracks_[number];
    int64_t behind = piece.end;  // the bases of the contig that get values from the window
    if (reverse) {
      const int64_t position = piece.length - 1 - *least;
      // The last bases of the contig are the first of this strand.
      if (position >= frame) {
        const ScanWindow window = window_of(grid_, frame, position);
        behind = std::min(piece.length - window.take, piece.end);
        take({number, window, piece.length - piece.last_end(behind), position + 1});
      }
    } else if (const int64_t position = piece.next(std::max<int64_t>(*least, frame)); position < piece.end) {
      const ScanWindow window = window_of(grid_, frame, position);
      behind = std::min(window.end, piece.end);
      take({number, window, position, piece.last_end(behind)});
    }
    *least = piece.next(behind);
  }
}

void ScanPlanner::plan(const ScanPiece& piece, const ContigBases& bases, const TokenLayout& layout,
                       const std::function<void(ScanItem)>& take) const {
  const auto shared = std::make_shared<const ScanPiece>(piece);
  // An item is handed on when the next one is known, because the last one is marked.
  std::optional<ScanItem> held;
  spans(piece, [&](const TrackSpan& span) {
    if (held) take(std::move(*held));
    held = make_item(shared, span, bases, layout);
  });
  if (!held) return;
  held->last = true;
  take(std::move(*held));
}

ScanItem ScanPlanner::make_item(const std::shared_ptr<const ScanPiece>& piece, const TrackSpan& span,
                                const ContigBases& contig, const TokenLayout& layout) const {
  const int64_t start = span.window.begin;
  const size_t length = layout.bases();
  const std::string bases = strand_bases(contig, piece->length, tracks_[span.track].reverse, start, span.end);
  ScanItem item{piece, span, bases.substr(static_cast<size_t>(span.begin - start)), 0, false, {}};
  // Bases at the ends of the span that have no value need no rows: many spans of assembled genomes are all N.
  const size_t first = item.letters.find_first_of("ACGT");
  if (first == std::string::npos) return item;
  const size_t last = item.letters.find_last_of("ACGT");
  const auto row_of = [&](size_t letter) {
    return (static_cast<size_t>(span.begin - start) + letter) / length;
  };
  const size_t first_row = row_of(first), last_row = row_of(last);
  item.first_row_begin = start + static_cast<int64_t>(first_row * length);
  const auto request = std::make_shared<Request>();
  request->want_begin = layout.lead() + first_row;
  request->head = HeadKind::marginals;
  if (level_ == ScanLevel::chain) {
    request->head = HeadKind::conditionals;
    for (size_t row = first_row; row <= last_row; ++row)
      request->targets.push_back(known_bases(std::string_view(bases).substr(row * length, length)));
  }
  // The token of the last row is only predicted.
  request->tokens = sequence_tokens(std::string_view(bases).substr(0, last_row * length), layout);
  item.requests.push_back(request);
  return item;
}

}  // namespace carbon
