// make_plan(): the rows that attention takes together. On the host; it is here because plan.hpp needs CUDA.
#include "kernels/cuda/plan.hpp"

#include <algorithm>

#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

using cuda::HostPlan;
using cuda::RowPlace;
using cuda::RowTile;

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

  Batch() {
    const struct { size_t rows, position; } wanted[] = {{150, 0}, {1, 700}, {9, 60}, {1, 63}};
    size_t row = 0;
    pages.reserve(std::size(wanted));
    for (const auto& [rows, position] : wanted) {
      std::vector<uint32_t>& own = pages.emplace_back((position + rows + 63) / 64);
      for (size_t i = 0; i < own.size(); ++i) own[i] = static_cast<uint32_t>(100 * (pages.size() - 1) + i);
      runs.push_back({own.data(), row, rows, position});
      row += rows;
    }
  }
};

void places_rows(Checks& checks) {
  const Batch batch;
  const HostPlan plan = cuda::make_plan(batch.runs, 0);
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
  const HostPlan plan = cuda::make_plan(batch.runs, positions);
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

}  // namespace

void check_plan(Checks& checks, const Machine&) {
  checks.run("plan: rows and their pages", [&] { places_rows(checks); });
  checks.run("plan: tiles cover all rows once, longest first", [&] {
    for (const size_t positions : {1, 2, 16, 64, 128}) tiles_rows(checks, positions);
  });
  checks.run("plan: nothing", [&] {
    const HostPlan plan = cuda::make_plan({}, 16);
    checks.that(plan.rows == 0 && plan.tile_count == 0 && plan.words.empty(), "no runs");
  });
  checks.run("plan: more positions than a kernel counts are refused", [&] {
    const ops::RowRun run{nullptr, 0, 1, size_t{1} << 32};
    checks.refused([&] { cuda::make_plan({&run, 1}, 16); }, "more rows or positions");
  });
}

}  // namespace carbon::gpu_test
