// Runs of rows as tables on the device: where every row stands, and which rows attention takes together.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/kv.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

/// How attention takes rows together: tiles of at most `positions` positions (0: no tiles), each whole, or
/// cut into chunks of kDecodeChunk keys.
struct Tiling {
  size_t positions = 0;
  bool chunks = false;
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

/// The tables of `runs` on the host. `words` holds the places, then tiles, those with most keys first, or
/// chunks, those of a tile one after the other, then the pages of the runs, one after the other.
struct HostPlan {
  std::vector<uint32_t> words;
  size_t rows = 0, tile_count = 0;
  size_t tiles_at = 0, pages_at = 0;  // in words
  std::vector<ChunkSlice> slices;
};
HostPlan make_plan(std::span<const ops::RowRun> runs, const Tiling& tiling);

/// Device memory of plans. A plan's goes to the next one, so that it stays where it is from step to step.
class PlanMemory {
 public:
  explicit PlanMemory(std::shared_ptr<const Device> device) : device_(std::move(device)) {}
  const Device& device() const { return *device_; }
  std::unique_ptr<Scratch> take();
  void give_back(std::unique_ptr<Scratch> scratch) { free_.push_back(std::move(scratch)); }

 private:
  std::shared_ptr<const Device> device_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

/// The kernel that attention of a plan's rows is.
enum class AttentionKernel { plain, mma, decode };

class CudaPlan final : public ops::RowPlan {
 public:
  /// Of runs that ops::check_runs() found right.
  CudaPlan(std::shared_ptr<PlanMemory> memory, std::span<const ops::RowRun> runs, size_t heads,
           CudaKvStore& kv, AttentionKernel kernel);
  ~CudaPlan() override { memory_->give_back(std::move(scratch_)); }
  CudaPlan(const CudaPlan&) = delete;
  CudaPlan& operator=(const CudaPlan&) = delete;

  const CudaKvStore& kv() const { return kv_; }
  size_t heads() const { return heads_; }
  AttentionKernel kernel() const { return kernel_; }
  size_t rows() const { return host_.rows; }
  size_t tile_count() const { return host_.tile_count; }
  std::span<const ChunkSlice> slices() const { return host_.slices; }

  // In device memory.
  const RowPlace* places() const { return at<RowPlace>(0); }                 // [rows]
  const RowTile* tiles() const { return at<RowTile>(host_.tiles_at); }       // [tile_count]
  const TileChunk* chunks() const { return at<TileChunk>(host_.tiles_at); }  // of the slices
  const uint32_t* page_list() const { return at<uint32_t>(host_.pages_at); }

 private:
  template <class T>
  const T* at(size_t word) const {
    return reinterpret_cast<const T*>(words_ + word);
  }

  std::shared_ptr<PlanMemory> memory_;
  std::unique_ptr<Scratch> scratch_;
  CudaKvStore& kv_;
  size_t heads_;
  AttentionKernel kernel_;
  HostPlan host_;
  const uint32_t* words_ = nullptr;
};

}  // namespace carbon::cuda
