// A weight as the CPU backend keeps it.
#include "kernels/cpu/cpu_weight.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

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
    kernels.widen(in + i * dtype_size(matrix.dtype), matrix.dtype, count, wide);
    kernels.narrow(wide, count, out + i);
  }
  return copy;
}

/// Tells the kernel that the pages wholly inside a mapped view are not needed for now.
void give_back(const TensorView& matrix) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(matrix.data);
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + matrix.bytes()) / page * page;
  // madvise takes a pointer to non-const memory, but changes nothing in a file's mapping.
  char* const data = const_cast<char*>(static_cast<const char*>(matrix.data));
  if (first < last) madvise(data + (first - begin), last - first, MADV_DONTNEED);
}

}  // namespace

CpuWeight::CpuWeight(const Kernels& kernels, const TensorView& matrix, DType act_type, OneDnn* onednn)
    : Weight(matrix.rows, matrix.cols), data_(matrix.data), type_(matrix.dtype) {
  if (matrix.data == nullptr || matrix.rows == 0 || matrix.cols == 0)
    throw Error("prepare", "an empty weight matrix: " + std::to_string(matrix.rows) + " x " +
                               std::to_string(matrix.cols));
  if (act_type != DType::bf16) return;
  if (matrix.dtype != DType::bf16) {
    copy_ = to_bf16_copy(kernels, matrix);
    data_ = copy_.get();
    type_ = DType::bf16;
  }
  if (onednn != nullptr) onednn_ = onednn->prepare(static_cast<const bf16*>(data_), matrix.rows, matrix.cols);
  const bool view_is_needed = !onednn_ && !copy_;
  if (onednn_) {
    copy_.reset();
    data_ = nullptr;
  }
  if (!view_is_needed && matrix.mapped_file) give_back(matrix);
}

}  // namespace carbon::cpu
