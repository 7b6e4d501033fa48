// attention() of many runs that share pages: bit for bit as for each run alone, and in full blocks of rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu/cpu_parts.hpp"
#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

/// A run that begins with the first `shared` pages of a family and goes on with pages of its own.
struct Fork {
  size_t family, shared, position, rows;
};

constexpr size_t kFamilies = 2, kFamilyPages = 10, kPositions = 840;

/// Forks at positions inside, at and next to the limits of pages. Those of the two families alternate. Some
/// share a page of which their first rows do not attend to all keys.
const std::vector<Fork> kForks = {
    {0, 10, 640, 17},  {1, 10, 640, 5}, {0, 10, 650, 1}, {1, 3, 200, 3},  {0, 10, 650, 3}, {1, 3, 192, 1},
    {0, 10, 655, 130}, {1, 3, 255, 64}, {0, 10, 703, 1}, {1, 10, 704, 1}, {0, 10, 639, 5}, {1, 1, 64, 20},
    {0, 10, 638, 70},  {1, 1, 63, 1},   {0, 1, 100, 33}, {1, 1, 62, 3},   {0, 0, 0, 100},  {1, 0, 300, 2},
    {0, 10, 650, 16},  {1, 10, 641, 1}, {0, 7, 641, 1},  {1, 7, 700, 1},  {0, 7, 450, 31}, {1, 5, 320, 2},
    {0, 10, 638, 4},   {0, 10, 638, 3},
};

/// The pages of each fork. The first kFamilies * kFamilyPages pages of a store are those of the families.
std::vector<std::vector<uint32_t>> page_lists(const std::vector<Fork>& forks) {
  std::vector<std::vector<uint32_t>> lists;
  uint32_t next = kFamilies * kFamilyPages;
  for (const Fork& fork : forks) {
    std::vector<uint32_t>& pages = lists.emplace_back();
    for (size_t i = 0; i * ops::kPageTokens < fork.position + fork.rows; ++i)
      pages.push_back(i < fork.shared ? static_cast<uint32_t>(i * kFamilies + fork.family) : next++);
  }
  return lists;
}

size_t page_count(const std::vector<std::vector<uint32_t>>& lists) {
  uint32_t last = 0;
  for (const std::vector<uint32_t>& pages : lists) last = std::max(last, std::ranges::max(pages));
  return std::max<size_t>(last + 1, kFamilies * kFamilyPages);
}

/// The runs of forks whose rows follow one another in the buffers.
std::vector<ops::RowRun> runs_of(const std::vector<Fork>& forks,
                                 const std::vector<std::vector<uint32_t>>& lists) {
  std::vector<ops::RowRun> runs;
  size_t row = 0;
  for (size_t i = 0; i < forks.size(); row += forks[i++].rows)
    runs.push_back({lists[i].data(), row, forks[i].rows, forks[i].position});
  return runs;
}

struct Shape {
  size_t heads, kv_heads, head_dim;
};

/// A backend, random queries for all forks, and a store whose pages are full of random keys and values.
class Bench {
 public:
  Bench(const Way& way, DType type, int threads, const Shape& shape)
      : backend_(way.make(type, threads)), shape_(shape), lists_(page_lists(kForks)) {
    std::vector<double> inv_freq;
    for (size_t j = 0; j < shape.head_dim / 2; ++j) inv_freq.push_back(std::pow(0.7, static_cast<double>(j)));
    backend_->set_rope({inv_freq, 1.0}, kPositions);
    kv_ = backend_->kv_store({1, shape.kv_heads, shape.head_dim});
    const size_t width = shape.kv_heads * shape.head_dim;
    kv_->reserve(page_count(lists_));
    Random random(5);
    for (uint32_t page = 0; page < page_count(lists_); ++page) {
      std::vector<float> k = random.vector(ops::kPageTokens * width, 3.0f);
      std::vector<float> v = random.vector(ops::kPageTokens * width);
      if (page == lists_[4].back()) k[5] = v[7] = std::nanf("");  // must stay in the rows of this fork
      const ops::RowRun run{&page, 0, ops::kPageTokens, 0};
      backend_->append_kv(k.data(), v.data(), width, *backend_->plan({&run, 1}, shape.heads, *kv_), 0);
    }
    runs_ = runs_of(kForks, lists_);
    rows_ = runs_.back().first_row + runs_.back().n_rows;
    q_ = random.vector(rows_ * shape.heads * shape.head_dim, 3.0f);
  }

  /// Attention of the runs `chosen`, in this order and in one call; the act buffer of all rows.
  std::vector<uint8_t> attend(const std::vector<size_t>& chosen) {
    std::vector<ops::RowRun> runs;
    for (const size_t i : chosen) runs.push_back(runs_[i]);
    std::vector<uint8_t> act(q_.size() * dtype_size(backend_->dtype()));
    backend_->attention(q_.data(), shape_.heads * shape_.head_dim, *backend_->plan(runs, shape_.heads, *kv_),
                        0, act.data());
    return act;
  }
  /// The same for all runs, each in a call of its own.
  std::vector<uint8_t> attend_alone() {
    std::vector<uint8_t> all;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const std::vector<uint8_t> one = attend({i});
      const size_t row = one.size() / rows_;
      const auto begin = one.begin() + static_cast<ptrdiff_t>(runs_[i].first_row * row);
      all.insert(all.end(), begin, begin + static_cast<ptrdiff_t>(runs_[i].n_rows * row));
    }
    return all;
  }

 private:
  std::unique_ptr<ops::Backend> backend_;
  Shape shape_;
  std::vector<std::vector<uint32_t>> lists_;
  std::unique_ptr<ops::KvStore> kv_;
  std::vector<ops::RowRun> runs_;
  size_t rows_ = 0;
  std::vector<float> q_;
};

/// The blocks of forks on a model with 4 query heads, of which each pair shares a KV head.
struct Blocks {
  std::vector<std::vector<uint32_t>> lists;
  cpu::CpuKvStore store{{1, 2, 8}, DType::f32};
  std::vector<ops::RowRun> runs;
  cpu::CpuPlan plan;

  explicit Blocks(const std::vector<Fork>& forks, size_t threads = 1)
      : lists(page_lists(forks)), runs(runs_of(forks, lists)), plan(runs, 4, store, threads) {}

  std::vector<size_t> rows() const {
    std::vector<size_t> sizes;
    for (const cpu::QueryBlock& block : plan.blocks()) {
      sizes.push_back(0);
      for (const cpu::RowPiece& piece : plan.pieces(block)) sizes.back() += piece.rows;
    }
    return sizes;
  }
};

}  // namespace

TEST_CASE("runs that share pages have the bits of each run alone, in any order and on any threads") {
  std::vector<size_t> order(kForks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const std::vector<size_t> reverse(order.rbegin(), order.rend());
  std::vector<size_t> mixed;
  for (size_t i = 0; i < order.size(); ++i) mixed.push_back(i * 7 % order.size());
  for (const Way& way : ways()) {
    for (const DType type : {DType::f32, DType::bf16})
      for (const Shape shape : {Shape{2, 2, 20}, Shape{3, 1, 48}, Shape{8, 2, 64}, Shape{66, 1, 16}}) {
        Bench one(way, type, 1, shape), three(way, type, 3, shape);
        const std::vector<uint8_t> alone = one.attend_alone();
        INFO(way.name(), " ", dtype_name(type), " ", shape.heads, " heads, ", shape.kv_heads, " KV heads");
        CHECK(one.attend(order) == alone);
        CHECK(one.attend(reverse) == alone);
        CHECK(three.attend(mixed) == alone);
        CHECK(three.attend_alone() == alone);
      }
  }
}

TEST_CASE("runs that share their first page fill blocks together") {
  CHECK(Blocks(std::vector<Fork>(64, {0, 10, 650, 1})).rows() == std::vector<size_t>{32, 32});
  CHECK(Blocks(std::vector<Fork>(10, {0, 10, 650, 17})).rows() ==
        std::vector<size_t>{32, 32, 32, 32, 32, 10});
  // The families have blocks of their own, also when their runs alternate.
  std::vector<Fork> forks;
  for (size_t i = 0; i < 64; ++i) forks.push_back({i % 2, 10, 650, 1});
  CHECK(Blocks(forks).rows() == std::vector<size_t>{32, 32});
  // Without a shared page that all rows attend to in whole, every run has blocks of its own.
  CHECK(Blocks({{0, 0, 300, 3}, {0, 0, 200, 2}, {0, 0, 100, 1}}).rows() == std::vector<size_t>{3, 2, 1});
  CHECK(Blocks({{0, 1, 62, 3}, {0, 1, 62, 2}}).rows() == std::vector<size_t>{3, 2});
  CHECK(Blocks({{0, 1, 63, 3}, {0, 1, 63, 2}}).rows() == std::vector<size_t>{5});
}

TEST_CASE("few rows make blocks enough for all threads") {
  CHECK(Blocks(std::vector<Fork>(16, {0, 10, 650, 1}), 2).rows() == std::vector<size_t>(4, 4));
  CHECK(Blocks(std::vector<Fork>(16, {0, 10, 650, 1}), 100).rows() == std::vector<size_t>(16, 1));
}

TEST_CASE("every row of a plan is in one block, with its position and pages") {
  const Blocks blocks(kForks);
  std::vector<int> seen(blocks.plan.rows());
  bool right = true;
  for (const cpu::QueryBlock& block : blocks.plan.blocks())
    for (const cpu::RowPiece& piece : blocks.plan.pieces(block))
      for (size_t row = piece.row; row < piece.row + piece.rows; ++row) {
        const auto run = std::ranges::find_if(blocks.runs, [&](const ops::RowRun& r) {
          return r.first_row <= row && row < r.first_row + r.n_rows;
        });
        right = right && piece.pages == run->pages &&
                piece.position + (row - piece.row) == run->position + (row - run->first_row);
        ++seen[row];
      }
  CHECK(right);
  CHECK(std::ranges::count(seen, 1) == static_cast<ptrdiff_t>(seen.size()));
}
