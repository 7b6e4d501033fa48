// kernels/cpu/: the operations on a CPU, in threads: cpu_* cut a call into tasks, and isa is the kernels,
// compiled for one set of instructions at a time, of which cpu_machine takes the fastest that the CPU has.
//
// Here are the parts of the backend (cpu_backend.cpp): memory, tasks, weights, what attention needs, and
// heads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/checks.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"
#include "src/base/error.hpp"
#include "src/base/threads.hpp"

namespace carbon::cpu {

using ops::checked_product;

// Memory, aligned to 64 bytes so that a vector is never in two cache lines.

struct FreeMemory {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

/// The size of huge pages. All weights are read for every token; with small pages the translation of
/// addresses would slow that down considerably.
inline constexpr size_t kHugePage = size_t{1} << 21;

/// Memory aligned to 64 bytes, with undefined contents. Uses huge pages for sizes of at least one such page,
/// if the system has them. Throws OutOfMemory(function, ...), which names the size.
inline Memory allocate_aligned(const char* function, size_t bytes) {
  const size_t alignment = bytes < kHugePage ? 64 : kHugePage;
  const size_t rounded = bytes > std::numeric_limits<size_t>::max() - 64 ? 0 : (bytes + 64) / 64 * 64;
  void* p = nullptr;
  if (rounded != 0 && posix_memalign(&p, alignment, rounded) != 0) p = nullptr;
  if (p != nullptr && bytes >= kHugePage) madvise(p, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  if (p == nullptr)
    throw OutOfMemory(function,
                      "out of memory: could not allocate " + std::to_string(bytes) +
                          " bytes; use a smaller batch or model, or a machine with more memory",
                      {"a smaller {--batch-tokens} needs less memory"});
  return Memory(p);
}

/// Memory of weights. Matrices share large pieces, so that all of them lie in huge pages: one alone would
/// have its beginning there, and its last part, or a small matrix all of it, in small pages.
class WeightMemory {
 public:
  /// `bytes` of memory aligned to 64 bytes, with undefined contents. Its piece is freed when the last matrix
  /// in it is. Throws OutOfMemory(function, ...).
  std::shared_ptr<char> take(const char* function, size_t bytes) {
    if (bytes > left_) {
      const size_t size = std::max(next_size_, bytes);
      piece_.reset(static_cast<char*>(allocate_aligned(function, size).release()), FreeMemory());
      next_ = piece_.get();
      left_ = size;
      next_size_ = std::min(2 * next_size_, kLargest);
    }
    std::shared_ptr<char> taken(piece_, next_);
    const size_t used = std::min(left_, (bytes + 63) / 64 * 64);
    next_ += used;
    left_ -= used;
    return taken;
  }

 private:
  // What no matrix uses of the last piece is never touched, and so takes no memory.
  static constexpr size_t kLargest = size_t{1} << 26;

  std::shared_ptr<char> piece_;
  char* next_ = nullptr;
  size_t left_ = 0, next_size_ = 2 * kHugePage;
};

/// Memory that grows when a larger size is requested. Its contents are lost then.
class GrowingMemory {
 public:
  void* ensure(const char* function, size_t bytes) {
    if (bytes > bytes_) {
      memory_.reset();
      bytes_ = 0;
      memory_ = allocate_aligned(function, bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Memory memory_;
  size_t bytes_ = 0;
};

// How many tasks threads share, and how a product is cut into them.

/// Tasks of an operation, if there is enough to share: a few for each of several threads, so that none waits
/// long for the last.
constexpr size_t wanted_tasks(size_t threads) {
  return threads == 1 ? 1 : 4 * threads;
}

constexpr size_t divide_up(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/// A product of n rows and a number of panels of outputs is computed in blocks of so many rows and panels;
/// the last blocks may be smaller.
struct ProductBlocks {
  size_t rows, panels;
};

/// The blocks with which the busiest thread has the least to do. They have at most kLinearRows rows, a
/// multiple of tile_rows. kLinearRows is one too, and n, panels and threads are at least 1.
ProductBlocks product_blocks(size_t n, size_t panels, size_t threads, size_t tile_rows);

// cpu_weight.cpp: the matrices of a weight, each in panels for the kernels.

/// The numbers of products: those of activations, or int8 for weights and activations.
enum class Products : uint8_t { act_type, int8 };

class CpuMatrix {
 public:
  /// Products of int8 have panels of int8 with scales (WeightType::q8_0): elements of that type are taken as
  /// they are, others are rounded (Kernels::round_weights). Otherwise, if activations are bf16, elements of
  /// other types are rounded to bf16; if they are f32, elements keep their type, or become f32 if that is a
  /// type with blocks. The memory of `matrix` is not needed afterwards.
  CpuMatrix(const Kernels& kernels, WeightMemory& memory, const TensorView& matrix, DType act_type,
            Products products, ThreadPool& pool);

  size_t rows() const { return rows_; }
  WeightType type() const { return type_; }
  size_t panels() const { return divide_up(rows_, panel_outputs_); }
  const void* panel(size_t i) const { return data_.get() + i * panel_bytes_; }
  size_t first_output(size_t panel) const { return panel * panel_outputs_; }
  /// The number of outputs in panels [panel, panel_end).
  size_t outputs_from(size_t panel, size_t panel_end) const {
    return std::min(first_output(panel_end), rows_) - first_output(panel);
  }

 private:
  size_t rows_;
  WeightType type_;
  size_t panel_outputs_, panel_bytes_ = 0;
  std::shared_ptr<const char> data_;
};

class CpuWeight final : public ops::Weight {
 public:
  using Matrices = std::vector<std::shared_ptr<const CpuMatrix>>;
  CpuWeight(Matrices matrices, size_t rows, size_t cols)
      : Weight(rows, cols), matrices_(std::move(matrices)) {}

  /// The matrices in the order of their outputs.
  const Matrices& matrices() const { return matrices_; }
  /// The number of panels of all matrices.
  size_t panels() const;
  /// The matrix if there is only one; otherwise null.
  const CpuMatrix* single() const;

 private:
  Matrices matrices_;
};

// cpu_plan.cpp: where attention finds positions, keys and rows.

/// The rotary table: cos and sin of position * inv_freq, computed in double and rounded once to f32.
class RopeTable {
 public:
  /// Computes the table for positions [0, positions). If the parameters are those of the last call, only new
  /// positions are computed. Throws Error if the memory is not enough.
  void set(const ops::RopeParams& rope, size_t positions);

  size_t positions() const { return positions_; }
  size_t head_dim() const { return 2 * inv_freq_.size(); }
  const float* cos(size_t position) const { return cos_.data() + position * inv_freq_.size(); }
  const float* sin(size_t position) const { return sin_.data() + position * inv_freq_.size(); }

 private:
  std::vector<double> inv_freq_;
  double scale_ = 0;
  size_t positions_ = 0;
  std::vector<float> cos_, sin_;  // [positions, head_dim / 2]
};

/// KV pages in host memory.
///
/// For every layer and KV head a page has K, transposed to [head_dim][64 tokens], then V, [64
/// tokens][value_dim], where value_dim is head_dim rounded up to 16 with zeros at the end. (attention.inl
/// interleaves elements for products of pairs.) Elements are f32 or bf16. Nothing here knows which sequence
/// uses a page.
///
/// Pages are parts of slabs, because a page alone is too small for the huge pages of the system: a step of
/// decoding would find no address of its keys translated.
class CpuKvStore final : public ops::KvStore {
 public:
  /// Throws Error if the shape is empty, the head size is odd or too large, or the size overflows.
  CpuKvStore(const ops::KvShape& shape, DType type);

  size_t page_bytes() const override { return page_bytes_; }
  void reserve(size_t count) override;
  void release(size_t count) override;
  void copy_page(uint32_t to, uint32_t from) override;

  const ops::KvShape& shape() const { return shape_; }
  DType type() const { return type_; }
  size_t value_dim() const { return value_dim_; }
  size_t count() const { return base_.size(); }
  /// Addresses of all pages, in order.
  void* const* bases() const { return base_.data(); }
  /// Bytes from the address of a page to the keys or the values of one layer and head.
  size_t k_offset(size_t layer, size_t head) const { return (layer * shape_.kv_heads + head) * head_bytes_; }
  size_t v_offset(size_t layer, size_t head) const { return k_offset(layer, head) + k_bytes_; }

 private:
  ops::KvShape shape_;
  DType type_;
  size_t value_dim_, k_bytes_, head_bytes_, page_bytes_, slab_pages_;
  std::vector<Memory> slabs_;
  std::vector<void*> base_;
};

/// Pieces that attention() computes together: of one run, or of several that share their first page.
struct QueryBlock {
  size_t first, count;  // pieces
  size_t keys;          // of each row, summed over the rows
};

/// Runs of rows, cut into the pieces that append_kv() and attention() distribute to threads.
class CpuPlan final : public ops::RowPlan {
 public:
  /// The runs must have passed ops::check_runs().
  CpuPlan(std::span<const ops::RowRun> runs, size_t heads, CpuKvStore& kv, size_t threads);

  CpuKvStore& kv() const { return kv_; }
  size_t heads() const { return heads_; }
  /// Query heads that share a KV head.
  size_t group() const { return heads_ / kv_.shape().kv_heads; }
  /// Pieces for append_kv(): the rows of a piece are in one page.
  std::span<const RowPiece> appended() const { return appended_; }
  size_t rows() const { return rows_; }
  /// Blocks for attention(): at most block_rows() rows each, those with the most keys first.
  std::span<const QueryBlock> blocks() const { return blocks_; }
  std::span<const RowPiece> pieces(const QueryBlock& block) const {
    return std::span(queries_).subspan(block.first, block.count);
  }
  size_t block_rows() const { return block_rows_; }
  /// An estimate of the work: the number of keys of each row, summed over the rows.
  size_t keys() const { return keys_; }

 private:
  void cut_into_blocks(std::span<const ops::RowRun> runs);

  CpuKvStore& kv_;
  size_t heads_, rows_ = 0, keys_ = 0, block_rows_ = 0;
  std::vector<RowPiece> appended_, queries_;
  std::vector<QueryBlock> blocks_;
};

// cpu_heads.cpp: what the heads compute from one row of logits, without threads.

/// out [6, 4] = ln P_j(b) from the logits `z` of the 4,096 6-mers, in 6-mer order. `scratch` has 4,096
/// floats. All results are NaN if a logit is not finite, and finite otherwise, even for probabilities too
/// small for a float.
void row_marginals(const Kernels& kernels, const float* z, float* scratch, double* out);

/// out [6, 4] = ln P(base j is b | the known bases before it); the rest as for row_marginals().
void row_conditionals(const Kernels& kernels, const float* z, ops::KnownBases known, float* scratch,
                      double* out);

/// Updates (maximum, sum) with the n logits of a slice of the vocabulary. `scratch` has kLogsumexpTile
/// floats. The slice is taken in tiles from its first logit, so the last bits depend on where slices begin: a
/// caller that promises equal bits must always use the same slices.
inline constexpr size_t kLogsumexpTile = 1024;
void row_logsumexp(const Kernels& kernels, const float* z, size_t n, float* scratch, double* maximum,
                   double* sum);

}  // namespace carbon::cpu
