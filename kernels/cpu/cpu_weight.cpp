// A weight of the CPU backend, and how a product with it is cut into tasks.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cpu/cpu_parts.hpp"

namespace carbon::cpu {
namespace {

/// The matrix in another type of elements: exact as f32, or rounded to bf16.
Memory converted(const Kernels& kernels, const TensorView& matrix, WeightType type) {
  constexpr size_t kChunk = 1024;
  static_assert(kChunk % kQ8Block == 0);
  const size_t n = checked_product("prepare", matrix.rows, matrix.cols);
  Memory copy = allocate_aligned("prepare", checked_product("prepare", n, dtype_size(type)));
  const char* const in = static_cast<const char*>(matrix.data);
  float wide[kChunk];
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    const bool rounds = type == WeightType::bf16;
    float* const to = rounds ? wide : static_cast<float*>(copy.get()) + i;
    kernels.widen(in + weight_bytes(matrix.dtype, i), matrix.dtype, count, to);
    if (rounds) kernels.narrow(wide, count, static_cast<bf16*>(copy.get()) + i);
  }
  return copy;
}

/// The type of elements in panels.
WeightType panel_type(WeightType stored, DType act_type, Products products) {
  if (products == Products::int8) return WeightType::q8_0;
  if (act_type == DType::bf16) return WeightType::bf16;
  return stored == WeightType::q8_0 ? WeightType::f32 : stored;
}

/// Tells the operating system that the pages that are completely inside a mapped view are not needed for now.
void give_back(const TensorView& matrix) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(matrix.data);
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + matrix.bytes()) / page * page;
  // madvise takes a pointer to non-const memory, but does not change the mapping of a file.
  char* const data = const_cast<char*>(static_cast<const char*>(matrix.data));
  if (first < last) madvise(data + (first - begin), last - first, MADV_DONTNEED);
}

/// The rows of a matrix that become a panel.
struct PanelSource {
  const char* data;
  size_t rows, cols, step, element;  // columns in a step; bytes of an element
};

/// Writes each step of all rows, one step after the other. Works on tiles of steps that stay in the
/// first-level cache.
template <class Unit>
void pack_panel(const PanelSource& in, size_t outputs, Unit* out) {
  constexpr size_t kTile = 32;
  const size_t full = in.cols / in.step, row_bytes = in.cols * in.element;
  for (size_t first = 0; first < full; first += kTile) {
    const size_t end = std::min(first + kTile, full);
    for (size_t j = 0; j < outputs; ++j) {
      const char* const row = in.data + j * row_bytes;
      for (size_t i = first; i < end; ++i) {
        Unit value = 0;
        if (j < in.rows) std::memcpy(&value, row + i * sizeof(Unit), sizeof(Unit));
        out[i * outputs + j] = value;
      }
    }
  }
  if (full * in.step == in.cols) return;
  for (size_t j = 0; j < outputs; ++j) {  // the last column is half a pair
    Unit value = 0;
    if (j < in.rows) std::memcpy(&value, in.data + (j + 1) * row_bytes - in.element, in.element);
    out[full * outputs + j] = value;
  }
}

constexpr size_t int8_blocks(size_t cols) {
  return divide_up(cols, kQ8Block);
}

/// A row of a matrix in int8, with a scale of f16 for each block.
class Int8Row {
 public:
  Int8Row(const Kernels& kernels, size_t cols)
      : kernels_(kernels),
        wide_(int8_blocks(cols) * kQ8Block),
        wide_scales_(int8_blocks(cols)),
        values_(wide_.size()),
        scales_(wide_scales_.size()) {}

  void read(const TensorView& matrix, size_t row) {
    if (matrix.dtype == WeightType::q8_0) return copy(static_cast<const char*>(matrix.row(row)));
    kernels_.widen(matrix.row(row), matrix.dtype, matrix.cols, wide_.data());
    kernels_.round_weights(wide_.data(), wide_.size(), values_.data(), wide_scales_.data());
    std::ranges::transform(wide_scales_, scales_.begin(), float_to_half);
  }
  /// Of block `i`.
  const int8_t* values(size_t i) const { return &values_[i * kQ8Block]; }
  uint16_t scale(size_t i) const { return scales_[i]; }

 private:
  void copy(const char* block) {
    for (size_t i = 0; i < scales_.size(); ++i, block += weight_format(WeightType::q8_0).block_bytes) {
      std::memcpy(&scales_[i], block, sizeof(uint16_t));
      std::memcpy(&values_[i * kQ8Block], block + sizeof(uint16_t), kQ8Block);
    }
  }

  const Kernels& kernels_;
  std::vector<float> wide_, wide_scales_;
  std::vector<int8_t> values_;
  std::vector<uint16_t> scales_;
};

/// Writes output `j` of a panel.
void pack_output(const Int8Row& row, size_t blocks, const Kernels& kernels, size_t j, char* panel) {
  const size_t outputs = kernels.panel_outputs, group = kernels.int8.group;
  for (size_t i = 0; i < blocks; ++i) {
    for (size_t k = 0; k < kQ8Block; ++k)
      panel[(k / group * outputs + j) * group + k % group] =
          static_cast<char>(row.values(i)[k] + kernels.int8.offset);
    panel += outputs * kQ8Block;
    const uint16_t scale = row.scale(i);
    std::memcpy(panel + j * sizeof scale, &scale, sizeof scale);
    panel += outputs * sizeof scale;
  }
}

/// Copies a matrix [rows, cols] into panels of `outputs` rows: [panels, steps, outputs, step], where a step
/// is one column, or two if `pairs` is true. Elements outside the matrix are zero. The type has blocks of one
/// number.
std::shared_ptr<char> pack_panels(WeightMemory& memory, const void* matrix, WeightType type, size_t rows,
                                  size_t cols, size_t outputs, bool pairs, ThreadPool& pool) {
  const size_t step = pairs ? 2 : 1, unit = step * dtype_size(type);
  const size_t panels = divide_up(rows, outputs), steps = divide_up(cols, step);
  std::shared_ptr<char> room = memory.take(
      "prepare", checked_product("prepare", checked_product("prepare", panels * outputs, steps), unit));
  const char* const in = static_cast<const char*>(matrix);
  char* const out = room.get();
  const auto run = [&]<class Unit>(Unit) {
    pool.run(panels, [&](size_t panel, size_t) {
      const PanelSource source{in + panel * outputs * cols * dtype_size(type),
                               std::min(outputs, rows - panel * outputs), cols, step, dtype_size(type)};
      pack_panel(source, outputs, reinterpret_cast<Unit*>(out + panel * outputs * steps * unit));
    });
  };
  unit == sizeof(uint16_t) ? run(uint16_t{}) : run(uint32_t{});
  return room;
}

/// Copies a matrix into panels of int8: [panels, blocks of kQ8Block inputs], and in each block the weights
/// [steps, panel_outputs, Int8Layout::group], then the scales [panel_outputs] as f16. Elements outside the
/// matrix are zero.
std::shared_ptr<char> pack_int8(WeightMemory& memory, const Kernels& kernels, const TensorView& matrix,
                                ThreadPool& pool) {
  const size_t outputs = kernels.panel_outputs, blocks = int8_blocks(matrix.cols);
  const size_t panels = divide_up(matrix.rows, outputs);
  const size_t panel_bytes =
      checked_product("prepare", outputs, weight_bytes(WeightType::q8_0, blocks * kQ8Block));
  const size_t bytes = checked_product("prepare", panels, panel_bytes);
  std::shared_ptr<char> room = memory.take("prepare", bytes);
  char* const out = room.get();
  const Int8Row zeros(kernels, matrix.cols);
  std::vector<Int8Row> rows(static_cast<size_t>(pool.size()), zeros);  // one per thread
  pool.run(panels, [&](size_t panel, size_t thread) {
    Int8Row& row = rows[thread];
    for (size_t j = 0; j < outputs; ++j) {
      const bool inside = panel * outputs + j < matrix.rows;
      if (inside) row.read(matrix, panel * outputs + j);
      pack_output(inside ? row : zeros, blocks, kernels, j, out + panel * panel_bytes);
    }
  });
  return room;
}

constexpr size_t kMostPanels = 16;
constexpr size_t kLeastRows = 48;  // with fewer rows a block takes longer for each
// Some blocks take longer than others: the last thread ends later than its number of blocks accounts for, by
// kLate / kBlock of one.
constexpr size_t kBlock = 10, kLate = 2;
constexpr size_t kGain = 32;  // smaller blocks must be faster by one part of so many

}  // namespace

CpuMatrix::CpuMatrix(const Kernels& kernels, WeightMemory& memory, const TensorView& matrix, DType act_type,
                     Products products, ThreadPool& pool)
    : rows_(matrix.rows),
      type_(panel_type(matrix.dtype, act_type, products)),
      panel_outputs_(kernels.panel_outputs) {
  if (products == Products::int8) {
    data_ = pack_int8(memory, kernels, matrix, pool);
    panel_bytes_ = panel_outputs_ * weight_bytes(type_, int8_blocks(matrix.cols) * kQ8Block);
    if (matrix.mapped_file) give_back(matrix);
    return;
  }
  const void* data = matrix.data;
  Memory copy;
  if (type_ != matrix.dtype) {
    copy = converted(kernels, matrix, type_);
    data = copy.get();
  }
  const bool pairs = act_type == DType::bf16 && kernels.pairs;
  data_ = pack_panels(memory, data, type_, matrix.rows, matrix.cols, panel_outputs_, pairs, pool);
  panel_bytes_ = panel_outputs_ * (pairs ? (matrix.cols + 1) / 2 * 2 : matrix.cols) * dtype_size(type_);
  if (matrix.mapped_file) give_back(matrix);
}

size_t CpuWeight::panels() const {
  size_t count = 0;
  for (const auto& matrix : matrices_) count += matrix->panels();
  return count;
}

const CpuMatrix* CpuWeight::single() const {
  return matrices_.size() == 1 ? matrices_.front().get() : nullptr;
}

// From the largest blocks down: each panel of weights is read once for a block, and each start of a block
// costs time.
ProductBlocks product_blocks(size_t n, size_t panels, size_t threads, size_t tile_rows) {
  const size_t tasks = wanted_tasks(threads);
  const size_t most_rows = divide_up(n, kLinearRows),
               least_rows = std::max(most_rows, std::min(divide_up(tasks, panels), divide_up(n, kLeastRows)));
  ProductBlocks best{};
  size_t least = 0;
  for (size_t row_blocks = most_rows; row_blocks <= least_rows; ++row_blocks) {
    const size_t rows = divide_up(divide_up(n, row_blocks), tile_rows) * tile_rows;
    const size_t wanted = std::clamp(divide_up(tasks, row_blocks), divide_up(panels, kMostPanels), panels);
    for (size_t width = divide_up(panels, wanted); width > 0; --width) {
      const size_t blocks = divide_up(n, rows) * divide_up(panels, width);
      const size_t busiest = (kBlock * divide_up(blocks, threads) + kLate) * rows * width;
      if (best.rows != 0 && busiest + busiest / kGain > least) continue;
      best = {rows, width};
      least = busiest;
    }
  }
  return best;
}

}  // namespace carbon::cpu
