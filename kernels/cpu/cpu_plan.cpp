#include "kernels/cpu/cpu_plan.hpp"

#include <algorithm>

#include "kernels/cpu/cpu_tasks.hpp"

namespace carbon::cpu {
namespace {

constexpr size_t kBlockRows = 64;  // query rows of a block (rows x heads of a group)

/// Row `first` of a run and `rows` from there on.
RowPiece piece_of(const ops::RowRun& run, size_t first, size_t rows) {
  return {run.first_row + first, run.position + first, rows, run.pages};
}

/// The pages to whose keys all rows of a run attend.
std::span<const uint32_t> whole_pages(const ops::RowRun& run) {
  return {run.pages, (run.position + 1) / ops::kPageTokens};
}

bool share_first_page(const ops::RowRun& a, const ops::RowRun& b) {
  return !whole_pages(a).empty() && !whole_pages(b).empty() && a.pages[0] == b.pages[0];
}

/// The runs in an order in which those with the same pages follow one another, and of these those that share
/// the most pages.
std::vector<const ops::RowRun*> by_pages(std::span<const ops::RowRun> runs) {
  std::vector<const ops::RowRun*> order;
  for (const ops::RowRun& run : runs) order.push_back(&run);
  std::ranges::stable_sort(order, [](const ops::RowRun* a, const ops::RowRun* b) {
    return std::ranges::lexicographical_compare(whole_pages(*a), whole_pages(*b));
  });
  return order;
}

}  // namespace

CpuPlan::CpuPlan(std::span<const ops::RowRun> runs, size_t heads, CpuKvStore& kv, size_t threads)
    : kv_(kv), heads_(heads) {
  for (const ops::RowRun& run : runs) {
    rows_ += run.n_rows;
    for (size_t i = 0; i < run.n_rows; i += appended_.back().rows)
      appended_.push_back(piece_of(
          run, i, std::min(run.n_rows - i, ops::kPageTokens - (run.position + i) % ops::kPageTokens)));
  }
  const size_t tasks = wanted_tasks(threads);
  block_rows_ =
      std::clamp<size_t>(rows_ * kv_.shape().kv_heads / tasks, 1, std::max<size_t>(1, kBlockRows / group()));
  cut_into_blocks(runs);
  // The longest come first, so that no thread has a long one left at the end.
  std::ranges::stable_sort(blocks_, std::ranges::greater{}, &QueryBlock::keys);
}

// Rows of runs that share pages follow one another without a gap, so that all their blocks but the last are
// full, however short the runs are.
void CpuPlan::cut_into_blocks(std::span<const ops::RowRun> runs) {
  const ops::RowRun* last = nullptr;
  size_t room = 0;  // rows that the last block can still take
  for (const ops::RowRun* const run : by_pages(runs)) {
    if (last != nullptr && !share_first_page(*last, *run)) room = 0;
    last = run;
    for (size_t i = 0; i < run->n_rows; i += queries_.back().rows) {
      if (room == 0) {
        blocks_.push_back({queries_.size(), 0, 0});
        room = block_rows_;
      }
      queries_.push_back(piece_of(*run, i, std::min(room, run->n_rows - i)));
      const size_t rows = queries_.back().rows,
                   keys = rows * (queries_.back().position / kPage + 1) * kPage;  // a page is read as a whole
      room -= rows;
      ++blocks_.back().count;
      blocks_.back().keys += keys;
      keys_ += keys;
    }
  }
}

}  // namespace carbon::cpu
