// Where the windows of a scan lie, and which bases its shares have.
#include <doctest/doctest.h>

#include <set>

#include "src/base/error.hpp"
#include "src/scan/pieces.hpp"
#include "src/scan/planner.hpp"

using namespace carbon;

TEST_CASE("a window gives a base its value if it is the first with enough context") {
  for (const auto& [context, positions] : {std::pair<int64_t, size_t>{24, 11}, {6, 3}, {6, 100}, {54, 11}}) {
    const ScanGrid grid = make_scan_grid(context, positions, 6);
    for (int64_t frame = 0; frame < 6; ++frame)
      for (int64_t base = frame; base < 500; ++base) {
        ScanWindow wanted;
        for (int64_t k = 0;; ++k) {
          const int64_t begin = frame + 6 * grid.stride * k, end = begin + 6 * grid.window;
          if (base >= end || (k > 0 && base - begin < context)) continue;
          wanted = {begin, k == 0 ? begin : begin + context, end};
          break;
        }
        const ScanWindow got = window_of(grid, frame, base);
        REQUIRE(got.begin == wanted.begin);
        REQUIRE(got.take == wanted.take);
        REQUIRE(got.end == wanted.end);
        REQUIRE((base >= got.take && base < got.end));
      }
  }
}

TEST_CASE("the grid follows from the context and the model") {
  CHECK(default_scan_context(8192, 6) == 24000 - 24000 % 6);
  CHECK(default_scan_context(4104, 6) == 8202);
  CHECK(default_scan_context(32768, 6) == 24000);
  const ScanGrid wide = make_scan_grid(24000, 32768, 6);
  CHECK(wide.window == 12000);
  CHECK(wide.stride == 8000);
  const ScanGrid narrow = make_scan_grid(24000, 8192, 6);
  CHECK(narrow.window == 8191);
  CHECK(narrow.stride == 4191);
  CHECK(make_scan_grid(54, 11, 6).stride == 1);
  CHECK_THROWS_WITH_AS(make_scan_grid(60, 11, 6), doctest::Contains("largest that fits is 54 bp"), Error);
  for (const int64_t bad : {int64_t{-6}, int64_t{0}, int64_t{25}})
    CHECK_THROWS_WITH_AS(make_scan_grid(bad, 4096, 6), doctest::Contains("positive multiple of 6"), Error);
}

TEST_CASE("shares of the bases are all bases in order") {
  const std::vector<ScanPiece> pieces = {{"a", 0, 100, 10, 20}, {"a", 0, 100, 50, 51}, {"b", 1, 7, 0, 7}};
  CHECK(total_bases(pieces) == 18);
  for (uint64_t count = 1; count <= 40; ++count) {
    std::vector<std::pair<std::string, int64_t>> bases, wanted;
    const auto list = [](const std::vector<ScanPiece>& of, auto& out) {
      for (const ScanPiece& piece : of)
        for (int64_t i = piece.begin; i < piece.end; ++i) out.emplace_back(piece.contig, i);
    };
    list(pieces, wanted);
    for (uint64_t index = 1; index <= count; ++index) list(pieces_of_share(pieces, {index, count}), bases);
    CHECK(bases == wanted);
  }
}

TEST_CASE("pieces of a contig share the windows that give them values") {
  ScanOptions options;
  options.frames = 1;
  const ScanPlanner planner(make_scan_grid(24, 11, 6), options);  // windows of 60 bp every 36 bp
  std::vector<ScanPiece> pieces;
  for (int64_t i = 0; i < 300; i += 3) pieces.push_back({"c", 0, 311, i, i + 1});
  pieces.push_back({"d", 1, 9, 0, 9});
  const std::vector<ScanPiece> joined = joined_pieces(pieces);
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].parts.size() == 100);
  CHECK(total_bases(pieces) == 109);
  for (const ScanPiece& piece : joined) {
    const auto windows = [&](const ScanPiece& of) {
      std::set<std::pair<size_t, int64_t>> out;
      size_t spans = 0;
      planner.spans(of, [&](const TrackSpan& span) {
        out.emplace(span.track, span.window.begin);
        ++spans;
      });
      CHECK(out.size() == spans);  // each once
      return out;
    };
    CHECK(windows(piece) == windows({piece.contig, piece.number, piece.length, piece.begin, piece.end}));
  }
  // Gaps that no window ends in are not computed.
  CHECK(joined[0].next(0) == 0);
  CHECK(joined[0].next(1) == 3);
  CHECK(joined[0].next(298) == joined[0].end);
  CHECK(joined[0].last_end(3) == 1);
  CHECK(joined[0].last_end(4) == 4);
}

TEST_CASE("the spans of a piece cover each base once per track, in the order of the contig") {
  ScanOptions options;
  options.frames = 3;
  const ScanPlanner planner(make_scan_grid(24, 11, 6), options);
  for (const auto& [begin, end] :
       {std::pair<int64_t, int64_t>{0, 311}, {1, 2}, {100, 311}, {0, 3}, {309, 311}}) {
    const ScanPiece piece{"c", 0, 311, begin, end};
    std::vector<int64_t> next(planner.tracks().size(), begin);
    planner.spans(piece, [&](const TrackSpan& span) {
      const auto [reverse, frame] = planner.tracks()[span.track];
      const int64_t first = reverse ? piece.length - span.end : span.begin;
      REQUIRE(first == std::max<int64_t>(next[span.track], reverse ? 0 : frame));
      REQUIRE(span.begin >= span.window.take);
      REQUIRE(span.end <= span.window.end);
      next[span.track] = reverse ? piece.length - span.begin : span.end;
    });
    for (size_t t = 0; t < next.size(); ++t) {
      const auto [reverse, frame] = planner.tracks()[t];
      // The bases before a frame's first 6-mer have no value in it.
      const int64_t last = reverse ? std::min<int64_t>(end, piece.length - frame) : end;
      CHECK(next[t] == std::max<int64_t>(begin, !reverse && end <= frame ? begin : last));
    }
  }
}
