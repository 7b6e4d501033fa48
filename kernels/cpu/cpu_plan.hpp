// Rows cut into the pieces that append_kv() and attention() hand to threads.
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
  /// Of runs that ops::check_runs() found right.
  CpuPlan(std::span<const ops::RowRun> runs, size_t heads, CpuKvStore& kv);

  CpuKvStore& kv() const { return kv_; }
  size_t heads() const { return heads_; }
  /// Query heads that share a KV head.
  size_t group() const { return heads_ / kv_.shape().kv_heads; }
  /// Rows that share a page.
  std::span<const RowPiece> appended() const { return appended_; }
  size_t rows() const { return rows_; }
  /// Rows that attention takes together: at most query_rows(), those that see most keys first.
  std::span<const RowPiece> queries() const { return queries_; }
  size_t query_rows() const;
  /// Keys that the rows see, about, summed over them.
  size_t keys() const { return keys_; }

 private:
  CpuKvStore& kv_;
  size_t heads_, rows_ = 0, keys_ = 0;
  std::vector<RowPiece> appended_, queries_;
};

}  // namespace carbon::cpu
