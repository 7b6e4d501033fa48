// Where attention finds positions, keys and rows: the rotary table, KV pages in host memory, and runs of rows
// cut into pieces.
#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/cpu/cpu_parts.hpp"

namespace carbon::cpu {
namespace {

constexpr size_t kSlabBytes = 8 * kHugePage;
constexpr size_t kBlockRows = 64;  // query rows of a block (rows x heads of a group)

/// Row `first` of a run and `rows` from there on.
RowPiece piece_of(const ops::RowRun& run, size_t first, size_t rows) {
  return {run.first_row + first, run.position + first, rows, run.pages, run.keys};
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

void RopeTable::set(const ops::RopeParams& rope, size_t positions) {
  const size_t half = rope.inv_freq.size();
  const bool same = scale_ == rope.scale && std::ranges::equal(inv_freq_, rope.inv_freq);
  const size_t known = same ? positions_ : 0;
  if (same && positions <= known) return;
  const size_t count = checked_product("set_rope", positions, half);
  try {
    cos_.resize(count);
    sin_.resize(count);
  } catch (const std::exception&) {
    positions_ = 0;
    throw Error("set_rope", "out of memory for the rotary table of " + std::to_string(positions) +
                                " positions; use a shorter context");
  }
  inv_freq_.assign(rope.inv_freq.begin(), rope.inv_freq.end());
  scale_ = rope.scale;
  positions_ = positions;
  ops::fill_rope(rope, known, positions, cos_.data(), sin_.data());
}

static_assert(kPage == ops::kPageTokens);

CpuKvStore::CpuKvStore(const ops::KvShape& shape, DType type) : shape_(shape), type_(type) {
  ops::check_kv_shape(shape, kMaxHeadDim);
  value_dim_ = divide_up(shape.head_dim, kValuePad) * kValuePad;
  k_bytes_ = shape.head_dim * kPage * dtype_size(type);
  head_bytes_ = k_bytes_ + kPage * value_dim_ * dtype_size(type);
  page_bytes_ =
      checked_product("kv_store", checked_product("kv_store", shape.layers, shape.kv_heads), head_bytes_);
  slab_pages_ = std::max<size_t>(1, kSlabBytes / page_bytes_);
}

void CpuKvStore::reserve(size_t count) {
  while (base_.size() < count) {
    if (base_.size() == slabs_.size() * slab_pages_)
      slabs_.push_back(allocate_aligned("reserve", checked_product("reserve", slab_pages_, page_bytes_)));
    char* const page = static_cast<char*>(slabs_.back().get()) + base_.size() % slab_pages_ * page_bytes_;
    std::memset(page, 0, page_bytes_);
    base_.push_back(page);
  }
}

void CpuKvStore::release(size_t count) {
  if (count >= base_.size()) return;
  base_.resize(count);
  slabs_.resize(divide_up(count, slab_pages_));
}

void CpuKvStore::copy_page(uint32_t to, uint32_t from) {
  ops::check_pages(to, from, count());
  if (to != from) std::memcpy(base_[to], base_[from], page_bytes_);
}

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
                   last = run->keys > 0 ? run->keys - 1 : queries_.back().position,
                   keys = rows * (last / kPage + 1) * kPage;  // a page is read as a whole
      room -= rows;
      ++blocks_.back().count;
      blocks_.back().keys += keys;
      keys_ += keys;
    }
  }
}

}  // namespace carbon::cpu
