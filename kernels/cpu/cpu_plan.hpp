// Runs of rows, cut into the pieces that append_kv() and attention() distribute to threads.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/cpu_kv.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

/// Pieces that attention() computes together: of one run, or of several that share their first page.
struct QueryBlock {
  size_t first, count;  // pieces
  size_t keys;          // of each row, summed over the rows
};

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

}  // namespace carbon::cpu
