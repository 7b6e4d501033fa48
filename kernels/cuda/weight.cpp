#include "kernels/cuda/weight.hpp"

#include <algorithm>
#include <string>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

// Elements that pass through device memory at a time on their way to another type.
constexpr size_t kChunk = size_t{1} << 24;

/// The matrix's elements as `type` to device memory.
void copy_as(const std::shared_ptr<const Device>& device, const TensorView& matrix, DType type, void* to) {
  if (matrix.dtype == type) return device->copy_in(to, matrix.data, matrix.bytes());
  const size_t n = matrix.rows * matrix.cols, size = dtype_size(matrix.dtype);
  const Memory passing(device, std::min(n, kChunk) * size, "weights on their way");
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    device->copy_in(passing.get(), static_cast<const char*>(matrix.data) + i * size, count * size);
    run_convert(device->stream(), passing.get(), matrix.dtype, count,
                static_cast<char*>(to) + i * dtype_size(type), type);
  }
}

DType common_type(std::span<const TensorView> matrices, DType act_type) {
  if (act_type == DType::bf16) return DType::bf16;
  const DType first = matrices.front().dtype;
  const auto same = [&](const TensorView& matrix) { return matrix.dtype == first; };
  return std::ranges::all_of(matrices, same) ? first : DType::f32;
}

size_t checked_elements(size_t rows, size_t cols) {
  size_t n;
  if (__builtin_mul_overflow(rows, cols, &n) || n > SIZE_MAX / 8)
    throw Error("prepare", "a size overflows: " + std::to_string(rows) + " x " + std::to_string(cols));
  return n;
}

}  // namespace

CudaWeight::CudaWeight(const std::shared_ptr<const Device>& device, std::span<const TensorView> matrices,
                       size_t rows, DType act_type, bool tensor_cores, Matmul* library)
    : Weight(rows, matrices.front().cols), type_(common_type(matrices, act_type)) {
  const size_t size = dtype_size(type_);
  memory_ = std::make_shared<const Memory>(device, checked_elements(rows, cols()) * size, "weights");
  data_ = memory_->get();
  for (const TensorView& matrix : matrices) {
    copy_as(device, matrix, type_, memory_->as<char>() + starts_.back() * cols() * size);
    starts_.push_back(starts_.back() + matrix.rows);
  }
  // The copies of mma need rows that begin at multiples of 16 bytes.
  if (act_type == DType::bf16 && tensor_cores && cols() % 8 == 0) product_ = mma_or(library);
}

CudaWeight::CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library)
    : Weight(whole.starts_[first + count] - whole.starts_[first], whole.cols()),
      memory_(whole.memory_),
      data_(static_cast<const char*>(whole.data_) + whole.starts_[first] * cols() * dtype_size(whole.type_)),
      type_(whole.type_) {
  for (size_t i = 1; i <= count; ++i) starts_.push_back(whole.starts_[first + i] - whole.starts_[first]);
  if (whole.product_ != Product::plain) product_ = mma_or(library);
}

CudaWeight::Product CudaWeight::mma_or(Matmul* library) const {
  return library != nullptr && library->prepare(data_, rows(), cols(), Matmul::Result::f32) ? Product::library
                                                                                            : Product::mma;
}

}  // namespace carbon::cuda
