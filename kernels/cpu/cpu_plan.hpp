// Runs of rows, cut into the pieces that append_kv() and attention() distribute to threads.
#pragma once

#include <span>
#include <vector>

#include "kernels/cpu/cpu_kv.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

/// Rows of one run.
struct RowPiece {
  size_t row, position, rows;
  const uint32_t* pages;  // of the run
};

class CpuPlan final : public ops::RowPlan {
 public:
  /// The runs must have passed ops::check_runs().
  CpuPlan(std::span<const ops::RowRun> runs, size_t heads, CpuKvStore& kv);

  CpuKvStore& kv() const { return kv_; }
  size_t heads() const { return heads_; }
  /// Query heads that share a KV head.
  size_t group() const { return heads_ / kv_.shape().kv_heads; }
  /// Pieces for append_kv(): the rows of a piece are in one page.
  std::span<const RowPiece> appended() const { return appended_; }
  size_t rows() const { return rows_; }
  /// Pieces for attention(): at most query_rows() rows each, those with the most keys first.
  std::span<const RowPiece> queries() const { return queries_; }
  size_t query_rows() const;
  /// An estimate of the work: the number of keys of each row, summed over the rows.
  size_t keys() const { return keys_; }

 private:
  CpuKvStore& kv_;
  size_t heads_, rows_ = 0, keys_ = 0;
  std::vector<RowPiece> appended_, queries_;
};

}  // namespace carbon::cpu
