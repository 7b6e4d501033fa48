#include "kernels/cpu/cpu_plan.hpp"

#include <algorithm>

namespace carbon::cpu {
namespace {

constexpr size_t kPieceRows = 64;  // query rows of a piece (positions x heads of a group)

}  // namespace

CpuPlan::CpuPlan(std::span<const ops::RowRun> runs, size_t heads, CpuKvStore& kv) : kv_(kv), heads_(heads) {
  for (const ops::RowRun& run : runs) {
    rows_ += run.n_rows;
    const auto piece = [&](size_t first, size_t rows) {
      return RowPiece{run.first_row + first, run.position + first, rows, run.pages};
    };
    for (size_t i = 0; i < run.n_rows; i += appended_.back().rows)
      appended_.push_back(
          piece(i, std::min(run.n_rows - i, ops::kPageTokens - (run.position + i) % ops::kPageTokens)));
    for (size_t i = 0; i < run.n_rows; i += query_rows()) {
      queries_.push_back(piece(i, std::min(query_rows(), run.n_rows - i)));
      keys_ += queries_.back().rows * (queries_.back().position + 1);
    }
  }
  // A piece at a later position has more keys. The longest come first, so that no thread has a long one left
  // at the end.
  std::ranges::stable_sort(queries_, std::ranges::greater{}, &RowPiece::position);
}

size_t CpuPlan::query_rows() const {
  return std::max<size_t>(1, kPieceRows / group());
}

}  // namespace carbon::cpu
