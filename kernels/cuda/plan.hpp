// Runs of rows as tables on the device: where every row stands, and which rows attention takes together.
//
// A forward uses the same runs in every layer, so tables are made once and found again by comparing the runs.
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

/// How attention takes rows together: tiles of at most `positions` positions (0: no tiles), each whole, or
/// cut into chunks of kDecodeChunk keys.
struct Tiling {
  size_t positions = 0;
  bool chunks = false;
  bool operator==(const Tiling&) const = default;
};

/// Chunks that one launch takes: those of as many whole tiles as do not exceed kDecodeLaunch chunks, one tile
/// at least. So scratch memory has a bound, whatever a pass holds.
struct ChunkSlice {
  size_t first, count;
  size_t parts;  // chunks of tiles that have several, rounded up: they come first, and leave parts to combine
};
inline constexpr size_t kDecodeLaunch = 1024;
/// The chunks of a launch are filled up with empty ones to this many, so that a launch stays the same for
/// many tokens: multiples of 4, and of a quarter of the power of two below.
size_t padded_chunks(size_t n);

struct Plan {
  const RowPlace* places = nullptr;     // [rows]
  const RowTile* tiles = nullptr;       // [tile_count], those with most keys first
  const TileChunk* chunks = nullptr;    // those of a tile one after the other
  const uint32_t* page_list = nullptr;  // the pages of the runs, one after the other
  size_t rows = 0, tile_count = 0;
  std::span<const ChunkSlice> slices;  // of the chunks
};

/// The tables of `runs` on the host. `words` holds the places, then tiles or chunks, then pages.
struct HostPlan {
  std::vector<uint32_t> words;
  size_t rows = 0, tile_count = 0;
  size_t tiles_at = 0, pages_at = 0;  // in words
  std::vector<ChunkSlice> slices;
};
HostPlan make_plan(std::span<const ops::RowRun> runs, const Tiling& tiling);

/// The plans of the pass at hand. Each use has its own memory on the device, which stays where it is from
/// step to step, and the tables of one upload serve both where both have the same rows.
class PlanCache {
 public:
  explicit PlanCache(const std::shared_ptr<const Device>& device);
  /// Places of rows that are appended to the cache, valid until this is asked for other runs.
  Plan append(std::span<const ops::RowRun> runs);
  /// For attention of the rows, valid until either is asked for other runs.
  Plan attend(std::span<const ops::RowRun> runs, const Tiling& tiling);

 private:
  struct Entry {
    explicit Entry(const std::shared_ptr<const Device>& device) : memory(device, "row tables") {}
    std::vector<uint32_t> runs;  // as numbers; empty: none
    Tiling tiling;
    Scratch memory;
    std::vector<ChunkSlice> slices;
    Plan plan;
  };
  void fill(Entry& entry, std::span<const ops::RowRun> runs, std::vector<uint32_t> key, const Tiling& tiling);

  std::shared_ptr<const Device> device_;
  Entry append_, attend_;
  Tiling last_;  // that was asked for, and for how many rows
  size_t last_rows_ = 0;
};

}  // namespace carbon::cuda
