// make_plan(): the rows that attention takes together. On the host; it is here because plan.hpp needs CUDA.
#include "kernels/cuda/plan.hpp"

#include <algorithm>

#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using cuda::HostPlan;
using cuda::RowPlace;
using cuda::RowTile;
using cuda::TileChunk;

template <class T>
std::vector<T> items(const HostPlan& plan, size_t from_word, size_t count) {
  std::vector<T> result(count);
  std::memcpy(result.data(), plan.words.data() + from_word, count * sizeof(T));
  return result;
}

/// Sequences of a batch with a prompt, a verified draft and two single tokens. Page p of sequence s is
/// 100 s + p.
struct Batch {
  std::vector<std::vector<uint32_t>> pages;
  std::vector<ops::RowRun> runs;

  struct Wanted {
    size_t rows, position;
  };
  explicit Batch(const std::vector<Wanted>& wanted = {{150, 0}, {1, 700}, {9, 60}, {1, 63}}) {
    size_t row = 0;
    pages.reserve(wanted.size());
    for (const auto& [rows, position] : wanted) {
      std::vector<uint32_t>& own = pages.emplace_back((position + rows + 63) / 64);
      for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<uint32_t>(100 * (pages.size() - 1) + i);
      runs.push_back({own.data(), row, rows, position});
      row += rows;
    }
  }
  /// Chunks of the first launch.
  size_t launch() const { return cuda::make_plan(runs, {1, true}).slices.at(0).count; }
};

void places_rows(Checks& checks) {
  const Batch batch;
  const HostPlan plan = cuda::make_plan(batch.runs, {});
  checks.that(plan.rows == 161 && plan.tile_count == 0, "a place for every row, no tiles");
  const auto places = items<RowPlace>(plan, 0, plan.rows);
  for (size_t s = 0; s < batch.runs.size(); ++s)
    for (size_t i = 0; i < batch.runs[s].n_rows; ++i) {
      const RowPlace& place = places.at(batch.runs[s].first_row + i);
      checks.that(place.row == batch.runs[s].first_row + i && place.position == batch.runs[s].position + i,
                  "row " + std::to_string(i) + " of " + std::to_string(s));
      const uint32_t page = plan.words.at(plan.pages_at + place.pages + place.position / 64);
      checks.that(page == 100 * s + place.position / 64, "its page");
    }
}

void tiles_rows(Checks& checks, size_t positions) {
  const Batch batch;
  const HostPlan plan = cuda::make_plan(batch.runs, {positions});
  const auto tiles = items<RowTile>(plan, plan.tiles_at, plan.tile_count);
  std::vector<int> taken(plan.rows);
  for (const RowTile& tile : tiles) {
    checks.that(tile.positions >= 1 && tile.positions <= positions, "the size of a tile");
    const auto run = std::ranges::find_if(batch.runs, [&](const ops::RowRun& r) {
      return tile.row >= r.first_row && tile.row + tile.positions <= r.first_row + r.n_rows;
    });
    checks.that(run != batch.runs.end(), "a tile is of one sequence");
    if (run == batch.runs.end()) continue;
    checks.that(tile.position - run->position == tile.row - run->first_row, "its position");
    checks.that(plan.words.at(plan.pages_at + tile.pages) == run->pages[0], "its pages");
    for (size_t i = 0; i < tile.positions; ++i) ++taken[tile.row + i];
  }
  checks.that(std::ranges::count(taken, 1) == static_cast<ptrdiff_t>(plan.rows), "every row once");
  checks.that(std::ranges::is_sorted(tiles, std::ranges::greater{}, &RowTile::position),
              "those with most keys first");
}

/// A fork: its rows, and how many pages it has in common with the others of its window.
struct Fork {
  size_t window, rows, position, shared;
};

/// Alleles that fork from two windows, in one batch: page p of window w is 1000 w + p, those of fork f are
/// 100000 + 100 f + p.
Batch forks(const std::vector<Fork>& all) {
  std::vector<Batch::Wanted> wanted;
  for (const Fork& fork : all) wanted.push_back({fork.rows, fork.position});
  Batch batch(wanted);
  for (size_t f = 0; f < all.size(); ++f)
    for (size_t p = 0; p < batch.pages[f].size(); ++p)
      batch.pages[f][p] =
          static_cast<uint32_t>(p < all[f].shared ? 1000 * all[f].window + p : 100000 + 100 * f + p);
  return batch;
}

/// Tiles of 16 positions with 8 warps, for a group of 8 heads.
constexpr cuda::Tiling kJoins{16, false, 2, 8, 8};

void joins_tiles(Checks& checks) {
  const std::vector<Fork> all = {{1, 5, 650, 10}, {2, 3, 330, 5}, {1, 20, 640, 10}, {1, 3, 700, 10},
                                 {2, 1, 320, 5},  {1, 1, 10, 0},  {1, 16, 650, 10}, {1, 2, 130, 2}};
  const Batch batch = forks(all);
  const HostPlan plan = cuda::make_plan(batch.runs, kJoins);
  checks.that(plan.joined, "tiles are joined");
  const auto tiles = items<cuda::JoinedTile>(plan, plan.tiles_at, plan.tile_count);
  std::vector<int> taken(plan.rows);
  size_t read = 0, several = 0, before = SIZE_MAX;
  for (const cuda::JoinedTile& tile : tiles) {
    size_t warps = 0, pages = tile.shared;
    for (size_t i = 0; i < tile.parts; ++i) {
      const RowTile& part = tile.part[i];
      checks.that(tile.warp[i] == warps, "warps one after the other");
      warps += (part.positions + 1) / 2;
      checks.that(part.position >= tile.shared * 64, "no row is in a shared page");
      for (size_t p = 0; p < tile.shared; ++p)
        checks.that(plan.words.at(plan.pages_at + part.pages + p) ==
                        plan.words.at(plan.pages_at + tile.part[0].pages + p),
                    "shared pages are the same");
      for (size_t r = 0; r < part.positions; ++r) ++taken.at(part.row + r);
      pages += (part.position + part.positions + 63) / 64 - tile.shared;
    }
    checks.that(tile.warps == warps && warps <= 8, "as many warps as a block has");
    checks.that(pages <= before, "those with most pages first");
    before = pages;
    read += pages;
    several += tile.parts > 1;
  }
  checks.that(std::ranges::count(taken, 1) == static_cast<ptrdiff_t>(plan.rows), "every row once");
  // Window 1: 5 + 3 + 4 positions (a remainder of 20) with 3 + 2 + 2 warps; 2: 3 + 1 with 2 + 1.
  checks.that(several == 2, std::to_string(several) + " tiles of several sequences");
  // 11 pages for 16 of the 20 rows; 12 for their rest with two others; 11 for 16 rows; 7 for window 2; 1; 3.
  checks.that(read == 11 + 13 + 11 + 7 + 1 + 3, std::to_string(read) + " pages are read");
  const auto separate = [&](const Batch& other, cuda::Tiling tiling) {
    return !cuda::make_plan(other.runs, tiling).joined;
  };
  cuda::Tiling few = kJoins;
  few.enough = 9;
  checks.that(separate(batch, few), "not if all blocks run at the same time");
  checks.that(separate(forks({{1, 3, 70, 0}, {2, 3, 70, 0}, {3, 3, 70, 0}}), kJoins),
              "not without shared pages");
  checks.that(separate(forks({{1, 3, 20, 1}, {1, 3, 20, 1}, {1, 3, 20, 1}}), kJoins),
              "not rows of the shared page");
  checks.that(separate(forks({{1, 16, 70, 1}, {1, 32, 70, 1}}), kJoins), "not full tiles");
}

/// More chunks than a launch takes, and a sequence that alone has more.
Batch long_batch() {
  std::vector<Batch::Wanted> wanted{{1, 140000}};
  for (size_t i = 0; i < 300; ++i) wanted.push_back({1 + i % 3, 500 + 40 * i % 1000});
  return Batch(wanted);
}

/// The tile's rows of the batch, or none.
const ops::RowRun* run_of(const Batch& batch, const TileChunk& chunk) {
  for (const ops::RowRun& run : batch.runs)
    if (chunk.row >= run.first_row && chunk.row + chunk.positions <= run.first_row + run.n_rows) return &run;
  return nullptr;
}

void cuts_keys(Checks& checks, const Batch& batch, size_t positions) {
  const HostPlan plan = cuda::make_plan(batch.runs, {positions, true});
  std::vector<size_t> keys(plan.rows);  // that a row has seen, in order
  size_t at = 0;
  for (const cuda::ChunkSlice& slice : plan.slices) {
    checks.that(slice.first == at && slice.count > 0, "slices one behind the other");
    at += slice.count;
    const auto chunks = items<TileChunk>(
        plan, plan.tiles_at + slice.first * sizeof(TileChunk) / sizeof(uint32_t), slice.count);
    size_t used = 0, tiles = 0, parts = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const TileChunk& chunk = chunks[i];
      if (chunk.positions == 0) continue;
      ++used;
      tiles += chunk.chunk == 0;
      if (chunk.position + chunk.positions > cuda::kDecodeChunk) parts = used;
      checks.that(i == used - 1 && chunk.positions <= positions, "empty chunks last");
      const ops::RowRun* const run = run_of(batch, chunk);
      checks.that(run != nullptr, "a tile is of one sequence");
      if (run == nullptr) continue;
      checks.that(chunk.position - run->position == chunk.row - run->first_row, "its position");
      checks.that(
          chunk.chunk <= i && chunks[i - chunk.chunk].chunk == 0 && chunks[i - chunk.chunk].row == chunk.row,
          "a tile's chunks are in one launch, in order");
      const size_t last = (chunk.position + chunk.positions - 1) / 64;
      for (size_t p = 0; p < cuda::kChunkPages; ++p)
        checks.that(chunk.pages[p] == run->pages[std::min(last, chunk.chunk * cuda::kChunkPages + p)],
                    "its pages");
      for (size_t r = 0; r < chunk.positions; ++r) {
        const size_t first = chunk.chunk * cuda::kDecodeChunk, end = chunk.position + r + 1;
        if (first >= end) continue;
        checks.that(keys.at(chunk.row + r) == first, "a row's keys in order");
        keys[chunk.row + r] = std::min(end, first + cuda::kDecodeChunk);
      }
    }
    checks.that(used <= cuda::kDecodeLaunch || tiles == 1, "the size of a launch");
    size_t several = 0;
    for (size_t i = 0; i < used; ++i)
      several += chunks[i].position + chunks[i].positions > cuda::kDecodeChunk;
    checks.that(slice.parts == cuda::padded_chunks(several) && parts == several,
                "tiles with several chunks come first");
    checks.that(slice.count == cuda::padded_chunks(used), "as many empty ones as there have to be");
  }
  for (const ops::RowRun& run : batch.runs)
    for (size_t r = 0; r < run.n_rows; ++r)
      checks.that(keys.at(run.first_row + r) == run.position + r + 1, "all keys of a row");
}

void keeps_launches(Checks& checks) {
  for (size_t n = 1; n < 5000; ++n) {
    const size_t padded = cuda::padded_chunks(n);
    checks.that(padded >= n && padded < n + std::max<size_t>(4, (n + 3) / 4),
                "padding of " + std::to_string(n));
    checks.that(cuda::padded_chunks(padded) == padded, "and no more of it");
  }
  // A sequence's launch changes every 512 tokens at first.
  size_t changes = 0;
  for (size_t position = 1; position < 2048; ++position)
    changes += Batch({{1, position}}).launch() != Batch({{1, position - 1}}).launch();
  checks.that(changes == 3, std::to_string(changes) + " changes");
}

}  // namespace

void check_plan(Checks& checks, const Machine&) {
  checks.run("plan: rows and their pages", [&] { places_rows(checks); });
  checks.run("plan: tiles cover all rows once, longest first", [&] {
    for (const size_t positions : {1, 2, 16, 64, 128}) tiles_rows(checks, positions);
  });
  checks.run("plan: chunks cover all keys of all rows, and launches have bounds", [&] {
    for (const size_t positions : {1, 2, 8, 16}) {
      cuts_keys(checks, Batch(), positions);
      cuts_keys(checks, long_batch(), positions);
    }
  });
  checks.run("plan: a step further is the same launch, mostly", [&] { keeps_launches(checks); });
  checks.run("plan: tiles of sequences that share pages are joined", [&] { joins_tiles(checks); });
  checks.run("plan: nothing", [&] {
    for (const bool chunks : {false, true}) {
      const HostPlan plan = cuda::make_plan({}, {16, chunks});
      checks.that(plan.rows == 0 && plan.tile_count == 0 && plan.words.empty() && plan.slices.empty(),
                  "no runs");
    }
  });
  checks.run("plan: more positions than a kernel counts are refused", [&] {
    const ops::RowRun run{nullptr, 0, 1, size_t{1} << 32};
    checks.refused([&] { cuda::make_plan({&run, 1}, {16}); }, "more rows or positions");
  });
}

}  // namespace carbon::gpu_test
