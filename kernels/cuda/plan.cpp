#include "kernels/cuda/plan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "src/util/error.hpp"

namespace carbon::cuda {
namespace {

constexpr size_t pages_of(const ops::RowRun& run) {
  return (run.position + run.n_rows + ops::kPageTokens - 1) / ops::kPageTokens;
}

/// Everything a plan depends on.
std::vector<uint32_t> make_key(std::span<const ops::RowRun> runs, size_t tile_positions) {
  std::vector<uint32_t> key{static_cast<uint32_t>(tile_positions)};
  for (const ops::RowRun& run : runs) {
    for (const size_t value : {run.first_row, run.n_rows, run.position})
      key.push_back(static_cast<uint32_t>(value));
    key.insert(key.end(), run.pages, run.pages + pages_of(run));
  }
  return key;
}

template <class T>
void append_words(std::vector<uint32_t>& words, const std::vector<T>& items) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0);
  const size_t at = words.size();
  words.resize(at + items.size() * sizeof(T) / sizeof(uint32_t));
  if (!items.empty()) std::memcpy(words.data() + at, items.data(), items.size() * sizeof(T));
}

}  // namespace

HostPlan make_plan(std::span<const ops::RowRun> runs, size_t tile_positions) {
  std::vector<RowPlace> places;
  std::vector<RowTile> tiles;
  std::vector<uint32_t> pages;
  for (const ops::RowRun& run : runs) {
    if (run.first_row + run.n_rows > std::numeric_limits<uint32_t>::max() ||
        run.position + run.n_rows > std::numeric_limits<uint32_t>::max())
      throw Error("make_plan", "more rows or positions than the GPU's kernels count; use a smaller batch");
    const auto page = static_cast<uint32_t>(pages.size());
    for (size_t i = 0; i < run.n_rows; ++i)
      places.push_back(
          {static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i), page});
    for (size_t i = 0; tile_positions != 0 && i < run.n_rows; i += tile_positions)
      tiles.push_back({static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i),
                       page, static_cast<uint32_t>(std::min(tile_positions, run.n_rows - i))});
    pages.insert(pages.end(), run.pages, run.pages + pages_of(run));
  }
  // The later a tile, the more keys it sees: longest first, so that the grid does not end with a long one
  // alone.
  std::ranges::stable_sort(tiles, std::ranges::greater{}, &RowTile::position);
  HostPlan plan;
  plan.rows = places.size();
  plan.tile_count = tiles.size();
  append_words(plan.words, places);
  plan.tiles_at = plan.words.size();
  append_words(plan.words, tiles);
  plan.pages_at = plan.words.size();
  append_words(plan.words, pages);
  return plan;
}

PlanCache::PlanCache(const std::shared_ptr<const Device>& device) : device_(device) {
  // A pass's runs as append_kv() and as attention() ask for them.
  for (int i = 0; i < 2; ++i) entries_.emplace_back(device);
}

Plan PlanCache::find(std::span<const ops::RowRun> runs, size_t tile_positions) {
  std::vector<uint32_t> key = make_key(runs, tile_positions);
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].key == key) {
      oldest_ = (i + 1) % entries_.size();
      return entries_[i].plan;
    }
  Entry& entry = entries_[oldest_];
  oldest_ = (oldest_ + 1) % entries_.size();
  entry.key.clear();  // if what follows throws
  const HostPlan host = make_plan(runs, tile_positions);
  auto* const words = entry.memory.ensure_array<uint32_t>(host.words.size());
  device_->copy_in(words, host.words.data(), host.words.size() * sizeof(uint32_t));
  entry.plan = {reinterpret_cast<const RowPlace*>(words),
                reinterpret_cast<const RowTile*>(words + host.tiles_at), words + host.pages_at, host.rows,
                host.tile_count};
  entry.key = std::move(key);
  return entry.plan;
}

}  // namespace carbon::cuda
