// What attention finds on the device: the pages of the key-value cache; the place of every row, and which
// rows are computed together; and memory for parts of rows.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

/// The pages of the key-value cache in device memory.
///
/// For every layer and KV head a page has keys [64][head_dim], then values of the same shape, as f32 or bf16.
/// Pages are in pools, which are allocated when they are needed. Nothing here knows which sequence uses a
/// page.
class CudaKvStore final : public ops::KvStore {
 public:
  /// Throws Error if the shape is empty, the head size is odd or too large for the kernels, or a size
  /// overflows.
  CudaKvStore(std::shared_ptr<const Device> device, const ops::KvShape& shape, DType type);

  size_t page_bytes() const override { return page_bytes_; }
  void reserve(size_t count) override;
  void release(size_t count) override;
  void copy_page(uint32_t to, uint32_t from) override;

  const ops::KvShape& shape() const { return shape_; }
  DType type() const { return type_; }
  size_t count() const { return listed_; }
  KvLayer layer(size_t index) const;

 private:
  struct Pool {
    Memory memory;
    size_t pages;
  };
  void add_pool();

  std::shared_ptr<const Device> device_;
  ops::KvShape shape_;
  DType type_;
  size_t page_bytes_, pool_pages_;
  std::vector<Pool> pools_;
  std::vector<void*> pages_;
  size_t listed_ = 0;  // number of pages whose addresses are in table_
  Memory table_;       // the addresses of pages, on the device
};

/// How attention groups rows: in tiles of at most `positions` positions (0 for no tiles), which are either
/// whole or cut into chunks of kDecodeChunk keys. Whole tiles of few rows are joined if their sequences begin
/// with the same pages and there are more than `enough` tiles. With fewer, all of them can be computed at the
/// same time, and joined ones would only take longer.
struct Tiling {
  size_t positions = 0;
  bool chunks = false;
  size_t enough = std::numeric_limits<size_t>::max();
  size_t group = 1, warps = 0;  // query rows of a position; warps of a joined tile, with 16 of them each
};

/// The chunks of one launch: those of as many whole tiles as have at most kDecodeLaunch chunks together, but
/// of at least one tile. This limits the scratch memory for passes of any size.
struct ChunkSlice {
  size_t first, count;
  size_t parts;  // chunks of tiles with several, rounded up; these come first and store parts to be combined
};
inline constexpr size_t kDecodeLaunch = 1024;
/// The number of chunks of a launch after empty chunks are added, so that launches stay equal for many
/// tokens: a multiple of 4, and of a quarter of the power of two below it.
size_t padded_chunks(size_t n);

/// The tables of `runs` on the host. `words` has first the places; then the tiles, RowTile or JoinedTile,
/// those with the most pages first, or the chunks, those of a tile one after the other; then the pages of all
/// runs.
struct HostPlan {
  std::vector<uint32_t> words;
  size_t rows = 0, tile_count = 0;
  bool joined = false;                // the tiles are JoinedTile
  size_t tiles_at = 0, pages_at = 0;  // in words
  std::vector<ChunkSlice> slices;
};
HostPlan make_plan(std::span<const ops::RowRun> runs, const Tiling& tiling);

/// The device memory of plans. A plan leaves its memory to the next one, so that the address does not change
/// from step to step.
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

/// Which kernel computes attention for the rows of a plan.
enum class AttentionKernel { plain, mma, decode };

/// Runs of rows as tables on the device.
class CudaPlan final : public ops::RowPlan {
 public:
  /// The runs must have passed ops::check_runs().
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
  bool joined() const { return host_.joined; }
  std::span<const ChunkSlice> slices() const { return host_.slices; }

  // In device memory.
  const RowPlace* places() const { return at<RowPlace>(0); }            // [rows]
  const RowTile* tiles() const { return at<RowTile>(host_.tiles_at); }  // [tile_count], unless joined()
  const JoinedTile* joined_tiles() const { return at<JoinedTile>(host_.tiles_at); }  // the same, if joined()
  const TileChunk* chunks() const { return at<TileChunk>(host_.tiles_at); }          // those of all slices
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

/// Memory in which the blocks of attention_decode.cu store their parts of a row for the block that combines
/// them.
class DecodeScratch {
 public:
  explicit DecodeScratch(const std::shared_ptr<const Device>& device);
  /// Returns memory for at least `slots` slots (null pointers for 0). The addresses stay the same until a
  /// larger number than ever before is requested, or one with another next power of two.
  DecodeParts ensure(size_t slots, size_t head_dim);

 private:
  std::shared_ptr<const Device> device_;
  Scratch floats_, counters_;
  size_t counted_ = 0;  // slots that have counters
};

}  // namespace carbon::cuda
