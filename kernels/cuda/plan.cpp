#include "kernels/cuda/plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

constexpr size_t pages_of(const ops::RowRun& run) {
  return (run.position + run.n_rows + ops::kPageTokens - 1) / ops::kPageTokens;
}

template <class T>
void append_words(std::vector<uint32_t>& words, const std::vector<T>& items) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0);
  const size_t at = words.size();
  words.resize(at + items.size() * sizeof(T) / sizeof(uint32_t));
  if (!items.empty()) std::memcpy(words.data() + at, items.data(), items.size() * sizeof(T));
}

/// The chunks of a tile; `pages` are those of its sequence.
void append_chunks(std::vector<TileChunk>& chunks, const RowTile& tile, const uint32_t* pages) {
  const uint32_t last = tile.position + tile.positions - 1;
  for (uint32_t chunk = 0; chunk <= last / kDecodeChunk; ++chunk) {
    TileChunk item{tile.row, tile.position, tile.positions, chunk, {}};
    for (uint32_t i = 0; i < kChunkPages; ++i)
      item.pages[i] = pages[std::min<uint32_t>(chunk * kChunkPages + i, last / ops::kPageTokens)];
    chunks.push_back(item);
  }
}

/// Cuts the chunks of all tiles into slices and adds empty chunks to each. The first `parts` chunks belong to
/// tiles with several chunks.
std::vector<ChunkSlice> slice_chunks(std::vector<TileChunk>& chunks, size_t parts) {
  std::vector<TileChunk> filled;
  std::vector<ChunkSlice> slices;
  for (size_t begin = 0; begin < chunks.size();) {
    size_t end = begin;
    for (size_t i = begin + 1; i <= chunks.size() && (end == begin || i - begin <= kDecodeLaunch); ++i)
      if (i == chunks.size() || chunks[i].chunk == 0) end = i;
    slices.push_back({filled.size(), padded_chunks(end - begin),
                      padded_chunks(std::min(end, std::max(begin, parts)) - begin)});
    filled.insert(filled.end(), chunks.begin() + static_cast<ptrdiff_t>(begin),
                  chunks.begin() + static_cast<ptrdiff_t>(end));
    filled.resize(slices.back().first + slices.back().count);
    begin = end;
  }
  chunks = std::move(filled);
  return slices;
}

/// How the kernel groups rows if `group` query heads of a size share a KV head.
Tiling tiling_of(AttentionKernel kernel, size_t group, size_t head_dim) {
  switch (kernel) {
    case AttentionKernel::plain:
      return {};
    case AttentionKernel::mma:
      return {attention_rows(head_dim) / group};
    case AttentionKernel::decode:
      return {kDecodeRows / group, true};
  }
  return {};
}

}  // namespace

size_t padded_chunks(size_t n) {
  const size_t step = std::max<size_t>(4, std::bit_floor(n) / 4);
  return (n + step - 1) / step * step;
}

HostPlan make_plan(std::span<const ops::RowRun> runs, const Tiling& tiling) {
  std::vector<RowPlace> places;
  std::vector<RowTile> tiles;
  std::vector<TileChunk> chunks, only_chunks;  // of tiles with several chunks, and of tiles with one
  std::vector<uint32_t> pages;
  for (const ops::RowRun& run : runs) {
    if (run.first_row + run.n_rows > std::numeric_limits<uint32_t>::max() ||
        run.position + run.n_rows > std::numeric_limits<uint32_t>::max())
      throw Error("make_plan", "more rows or positions than the kernels can count; use a smaller batch");
    const auto page = static_cast<uint32_t>(pages.size());
    for (size_t i = 0; i < run.n_rows; ++i)
      places.push_back(
          {static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i), page});
    for (size_t i = 0; tiling.positions != 0 && i < run.n_rows; i += tiling.positions) {
      const RowTile tile{static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i),
                         page, static_cast<uint32_t>(std::min(tiling.positions, run.n_rows - i))};
      if (tiling.chunks)
        append_chunks(tile.position + tile.positions > kDecodeChunk ? chunks : only_chunks, tile, run.pages);
      else
        tiles.push_back(tile);
    }
    pages.insert(pages.end(), run.pages, run.pages + pages_of(run));
  }
  // A tile at a later position has more keys. The longest come first, so that the grid does not end with a
  // long one.
  std::ranges::stable_sort(tiles, std::ranges::greater{}, &RowTile::position);
  HostPlan plan;
  plan.rows = places.size();
  plan.tile_count = tiles.size();
  append_words(plan.words, places);
  plan.tiles_at = plan.words.size();
  append_words(plan.words, tiles);
  const size_t parts = chunks.size();
  chunks.insert(chunks.end(), only_chunks.begin(), only_chunks.end());
  plan.slices = slice_chunks(chunks, parts);
  append_words(plan.words, chunks);
  plan.pages_at = plan.words.size();
  append_words(plan.words, pages);
  return plan;
}

std::unique_ptr<Scratch> PlanMemory::take() {
  if (free_.empty()) return std::make_unique<Scratch>(device_, "row tables");
  std::unique_ptr<Scratch> last = std::move(free_.back());
  free_.pop_back();
  return last;
}

CudaPlan::CudaPlan(std::shared_ptr<PlanMemory> memory, std::span<const ops::RowRun> runs, size_t heads,
                   CudaKvStore& kv, AttentionKernel kernel)
    : memory_(std::move(memory)),
      scratch_(memory_->take()),
      kv_(kv),
      heads_(heads),
      kernel_(kernel),
      host_(make_plan(runs, tiling_of(kernel, heads / kv.shape().kv_heads, kv.shape().head_dim))) {
  if (host_.words.empty()) return;
  auto* const words = scratch_->ensure_array<uint32_t>(host_.words.size());
  memory_->device().copy_in(words, host_.words.data(), host_.words.size() * sizeof(uint32_t));
  words_ = words;
}

}  // namespace carbon::cuda
