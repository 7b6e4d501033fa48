#include "kernels/cuda/plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/checks.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

static_assert(ops::kPageTokens == 64);

// Bytes of a pool: a large cache has few pools, and a small cache leaves little of a pool unused.
constexpr size_t kPoolBytes = size_t{256} << 20;
constexpr size_t kPoolPages = 64;
// A pool takes at most this part of the free memory, but at least one page. The next forward pass needs
// memory for activations, and release() can free some of several small pools.
constexpr size_t kPoolShare = 8;

size_t checked_page_bytes(const ops::KvShape& shape, DType type) {
  ops::check_kv_shape(shape, kMaxPlainHead);
  const size_t heads = ops::checked_product("kv_store", shape.layers, shape.kv_heads);
  return ops::checked_product("kv_store", heads, 2 * ops::kPageTokens * shape.head_dim * dtype_size(type));
}

size_t pages_of(const ops::RowRun& run) {
  return (run.most_keys() + ops::kPageTokens - 1) / ops::kPageTokens;
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

constexpr uint32_t pages_of(const RowTile& tile) {
  const uint32_t keys = tile.keys > 0 ? tile.keys : tile.position + tile.positions;
  return (keys + ops::kPageTokens - 1) / ops::kPageTokens;
}

/// The pages that the block of a tile reads.
uint32_t pages_of(const JoinedTile& tile) {
  uint32_t pages = tile.shared;
  for (uint32_t i = 0; i < tile.parts; ++i) pages += pages_of(tile.part[i]) - tile.shared;
  return pages;
}

/// Joins tiles of sequences that share pages (JoinedTile).
class TileJoiner {
 public:
  TileJoiner(const std::vector<uint32_t>& pages, const Tiling& tiling) : pages_(pages), tiling_(tiling) {}

  /// All tiles, those with the most pages first; none if no two of them were joined.
  std::vector<JoinedTile> join(const std::vector<RowTile>& tiles) {
    std::vector<RowTile> open;  // have room for others
    for (const RowTile& tile : tiles)
      if (warps_of(tile) < tiling_.warps)
        open.push_back(tile);
      else
        joined_.push_back(alone(tile));
    // Now those that share their first page follow one another.
    std::ranges::stable_sort(open, {}, [&](const RowTile& tile) { return pages_[tile.pages]; });
    for (const RowTile& tile : open)
      if (joined_.empty() || !add(joined_.back(), tile)) joined_.push_back(alone(tile));
    if (joined_.size() == tiles.size()) return {};
    std::ranges::stable_sort(joined_, std::ranges::greater{},
                             [](const JoinedTile& tile) { return pages_of(tile); });
    return std::move(joined_);
  }

 private:
  uint32_t warps_of(const RowTile& tile) const {
    return static_cast<uint32_t>((tile.positions * tiling_.group + 15) / 16);
  }
  JoinedTile alone(const RowTile& tile) const {
    return {1, static_cast<uint32_t>(tile.position / ops::kPageTokens), warps_of(tile), {0}, {tile}};
  }
  /// Adds the tile to those of `to`, unless there is no room or so few pages are shared that the blocks would
  /// read no fewer.
  bool add(JoinedTile& to, const RowTile& tile) const {
    const uint32_t warps = warps_of(tile);
    if (to.parts == JoinedTile::kParts || to.warps + warps > tiling_.warps) return false;
    const uint32_t most = std::min<uint32_t>(to.shared, tile.position / ops::kPageTokens);
    uint32_t shared = 0;
    while (shared < most && pages_[to.part[0].pages + shared] == pages_[tile.pages + shared]) ++shared;
    if (to.parts * shared <= (to.parts - 1) * to.shared) return false;
    to.shared = shared;
    to.warp[to.parts] = to.warps;
    to.part[to.parts] = tile;
    to.warps += warps;
    ++to.parts;
    return true;
  }

  const std::vector<uint32_t>& pages_;
  const Tiling& tiling_;
  std::vector<JoinedTile> joined_;
};

/// How the kernel groups the rows of a store of this shape.
Tiling tiling_of(AttentionKernel kernel, size_t heads, const ops::KvShape& shape, int multiprocessors) {
  const size_t group = heads / shape.kv_heads;
  switch (kernel) {
    case AttentionKernel::plain:
      return {};
    case AttentionKernel::mma: {
      const size_t blocks = static_cast<size_t>(multiprocessors) * attention_blocks(shape.head_dim);
      return {attention_rows(shape.head_dim) / group, false, blocks / shape.kv_heads, group,
              attention_warps(shape.head_dim)};
    }
    case AttentionKernel::decode:
      return {kDecodeRows / group, true};
  }
  return {};
}

}  // namespace

CudaKvStore::CudaKvStore(std::shared_ptr<const Device> device, const ops::KvShape& shape, DType type)
    : device_(std::move(device)),
      shape_(shape),
      type_(type),
      page_bytes_(checked_page_bytes(shape, type)),
      pool_pages_(std::clamp<size_t>(kPoolBytes / page_bytes_, 1, kPoolPages)) {}

// The old list is kept until the new one is complete: if memory runs out, the pages in use must still be
// found.
void CudaKvStore::reserve(size_t count) {
  if (count <= listed_) return;
  device_->use();
  while (pages_.size() < count) add_pool();
  if (table_.bytes() < pages_.size() * sizeof(void*))
    table_ = Memory(device_, 2 * pages_.size() * sizeof(void*), "the list of KV pages");
  device_->copy_in(table_.get(), pages_.data(), pages_.size() * sizeof(void*));
  listed_ = pages_.size();
}

void CudaKvStore::release(size_t count) {
  while (!pools_.empty() && pages_.size() - pools_.back().pages >= count) {
    pages_.resize(pages_.size() - pools_.back().pages);
    pools_.pop_back();
  }
  listed_ = std::min(listed_, pages_.size());
}

void CudaKvStore::add_pool() {
  const size_t count = std::clamp<size_t>(device_->free_memory() / kPoolShare / page_bytes_, 1, pool_pages_);
  Memory pool(device_, count * page_bytes_, "keys and values");
  device_->clear(pool.get(), count * page_bytes_);
  for (size_t i = 0; i < count; ++i) pages_.push_back(pool.as<char>() + i * page_bytes_);
  pools_.push_back({std::move(pool), count});
}

void CudaKvStore::copy_page(uint32_t to, uint32_t from) {
  ops::check_pages(to, from, count());
  device_->use();
  if (to != from) device_->copy(pages_[to], pages_[from], page_bytes_);
}

KvLayer CudaKvStore::layer(size_t index) const {
  const size_t layer_bytes = page_bytes_ / shape_.layers;
  return {table_.as<void*>(), index * layer_bytes, shape_.kv_heads, shape_.head_dim};
}

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
        run.most_keys() > std::numeric_limits<uint32_t>::max())
      throw Error("make_plan", "more rows or positions than the kernels can count; use a smaller batch");
    const auto page = static_cast<uint32_t>(pages.size());
    for (size_t i = 0; i < run.n_rows; ++i)
      places.push_back({static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i),
                        page, static_cast<uint32_t>(run.keys > 0 ? run.keys - 1 : run.position + i)});
    for (size_t i = 0; tiling.positions != 0 && i < run.n_rows; i += tiling.positions) {
      const RowTile tile{static_cast<uint32_t>(run.first_row + i), static_cast<uint32_t>(run.position + i),
                         page, static_cast<uint32_t>(std::min(tiling.positions, run.n_rows - i)),
                         static_cast<uint32_t>(run.keys)};
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
  std::vector<JoinedTile> joined;
  if (tiles.size() > tiling.enough) joined = TileJoiner(pages, tiling).join(tiles);
  HostPlan plan;
  plan.rows = places.size();
  plan.joined = !joined.empty();
  plan.tile_count = plan.joined ? joined.size() : tiles.size();
  append_words(plan.words, places);
  plan.tiles_at = plan.words.size();
  if (plan.joined)
    append_words(plan.words, joined);
  else
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
      host_(make_plan(runs, tiling_of(kernel, heads, kv.shape(), memory_->device().multiprocessors()))) {
  if (host_.words.empty()) return;
  auto* const words = scratch_->ensure_array<uint32_t>(host_.words.size());
  memory_->device().copy_in(words, host_.words.data(), host_.words.size() * sizeof(uint32_t));
  words_ = words;
}

DecodeScratch::DecodeScratch(const std::shared_ptr<const Device>& device)
    : device_(device), floats_(device, "parts of attention"), counters_(device, "parts of attention") {}

DecodeParts DecodeScratch::ensure(size_t slots, size_t head_dim) {
  if (slots == 0) return {};
  slots = std::bit_ceil(slots);
  const size_t rows = slots * kDecodeRows;
  auto* const out = floats_.ensure_array<float>(rows * (head_dim + 4));
  if (slots > counted_) {
    counted_ = 0;  // in case the next lines throw
    auto* const counters = counters_.ensure_array<uint32_t>(2 * slots);
    device_->clear(counters, 2 * slots * sizeof(uint32_t));
    counted_ = slots;
  }
  float* const largest = out + rows * head_dim;
  return {out, largest, largest + 2 * rows, counters_.ensure_array<uint32_t>(2 * slots), slots};
}

}  // namespace carbon::cuda
