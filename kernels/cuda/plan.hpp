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

struct Plan {
  const RowPlace* places = nullptr;     // [rows]
  const RowTile* tiles = nullptr;       // [tile_count], those with most keys first
  const uint32_t* page_list = nullptr;  // the pages of the runs, one after the other
  size_t rows = 0, tile_count = 0;
};

/// The tables of `runs` on the host, with tiles of at most `tile_positions` positions (0: none). `words`
/// holds the places, then tiles, then pages.
struct HostPlan {
  std::vector<uint32_t> words;
  size_t rows = 0, tile_count = 0;
  size_t tiles_at = 0, pages_at = 0;  // in words
};
HostPlan make_plan(std::span<const ops::RowRun> runs, size_t tile_positions);

class PlanCache {
 public:
  explicit PlanCache(const std::shared_ptr<const Device>& device);
  /// Valid until two other plans have been asked for.
  Plan find(std::span<const ops::RowRun> runs, size_t tile_positions);

 private:
  struct Entry {
    explicit Entry(std::shared_ptr<const Device> device) : memory(std::move(device), "row tables") {}
    std::vector<uint32_t> key;
    Scratch memory;
    Plan plan;
  };
  std::shared_ptr<const Device> device_;
  std::vector<Entry> entries_;
  size_t oldest_ = 0;
};

}  // namespace carbon::cuda
