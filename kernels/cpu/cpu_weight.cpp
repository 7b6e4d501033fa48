// A weight of the CPU backend. See cpu_weight.hpp.
#include "kernels/cpu/cpu_weight.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace carbon::cpu {
namespace {

/// The matrix rounded to bf16.
Memory to_bf16_copy(const Kernels& kernels, const TensorView& matrix) {
  constexpr size_t kChunk = 1024;
  const size_t n = checked_product("prepare", matrix.rows, matrix.cols);
  Memory copy = allocate_aligned("prepare", checked_product("prepare", n, sizeof(bf16)));
  bf16* const out = static_cast<bf16*>(copy.get());
  const char* const in = static_cast<const char*>(matrix.data);
  float wide[kChunk];
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    kernels.widen(in + weight_bytes(matrix.dtype, i), matrix.dtype, count, wide);
    kernels.narrow(wide, count, out + i);
  }
  return copy;
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

}  // namespace

CpuMatrix::CpuMatrix(const Kernels& kernels, const TensorView& matrix, DType act_type, OneDnn* onednn,
                     int threads)
    : rows_(matrix.rows), type_(matrix.dtype), panel_outputs_(kernels.panel_outputs) {
  const void* data = matrix.data;
  Memory copy;
  if (act_type == DType::bf16 && matrix.dtype != WeightType::bf16) {
    copy = to_bf16_copy(kernels, matrix);
    data = copy.get();
    type_ = WeightType::bf16;
  }
  if (onednn != nullptr && act_type == DType::bf16)
    onednn_ = onednn->prepare(static_cast<const bf16*>(data), matrix.rows, matrix.cols);
  if (!onednn_) {
    const bool pairs = act_type == DType::bf16 && kernels.pairs;
    data_ = pack_panels(data, type_, matrix.rows, matrix.cols, panel_outputs_, pairs, threads);
    panel_bytes_ = panel_outputs_ * (pairs ? (matrix.cols + 1) / 2 * 2 : matrix.cols) * dtype_size(type_);
  }
  if (matrix.mapped_file) give_back(matrix);
}

size_t CpuWeight::panels() const {
  size_t count = 0;
  for (const auto& matrix : matrices_) count += matrix->panels();
  return count;
}

const CpuMatrix* CpuWeight::single() const {
  return matrices_.size() == 1 && matrices_.front()->panels() > 0 ? matrices_.front().get() : nullptr;
}

Memory pack_panels(const void* matrix, WeightType type, size_t rows, size_t cols, size_t outputs, bool pairs,
                   int threads) {
  const size_t step = pairs ? 2 : 1, unit = step * dtype_size(type);
  const size_t panels = (rows + outputs - 1) / outputs, steps = (cols + step - 1) / step;
  Memory room = allocate_aligned(
      "prepare", checked_product("prepare", checked_product("prepare", panels * outputs, steps), unit));
  const char* const in = static_cast<const char*>(matrix);
  char* const out = static_cast<char*>(room.get());
  const auto run = [&]<class Unit>(Unit) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (size_t panel = 0; panel < panels; ++panel) {
      const PanelSource source{in + panel * outputs * cols * dtype_size(type),
                               std::min(outputs, rows - panel * outputs), cols, step, dtype_size(type)};
      pack_panel(source, outputs, reinterpret_cast<Unit*>(out + panel * outputs * steps * unit));
    }
  };
  unit == sizeof(uint16_t) ? run(uint16_t{}) : run(uint32_t{});
  return room;
}

}  // namespace carbon::cpu
