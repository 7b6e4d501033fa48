#include "kernels/cuda/weight.hpp"

#include <algorithm>
#include <string>

#include "src/util/error.hpp"

namespace carbon::cuda {
namespace {

// Elements that pass through device memory at a time on their way to bf16.
constexpr size_t kChunk = size_t{1} << 24;

Memory to_bf16_copy(const std::shared_ptr<const Device>& device, const TensorView& matrix, size_t n) {
  Memory copy(device, n * sizeof(bf16), "weights");
  const size_t size = dtype_size(matrix.dtype);
  const Memory passing(device, std::min(n, kChunk) * size, "weights on their way");
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    device->copy_in(passing.get(), static_cast<const char*>(matrix.data) + i * size, count * size);
    run_to_bf16(device->stream(), passing.get(), matrix.dtype, count, copy.as<bf16>() + i);
  }
  return copy;
}

}  // namespace

CudaWeight::CudaWeight(const std::shared_ptr<const Device>& device, const TensorView& matrix, DType act_type,
                       bool tensor_cores, Matmul* library)
    : Weight(matrix.rows, matrix.cols), type_(act_type == DType::bf16 ? DType::bf16 : matrix.dtype) {
  if (matrix.data == nullptr || matrix.rows == 0 || matrix.cols == 0)
    throw Error("prepare", "an empty weight matrix: " + std::to_string(matrix.rows) + " x " +
                               std::to_string(matrix.cols));
  size_t n;
  if (__builtin_mul_overflow(matrix.rows, matrix.cols, &n) || n > SIZE_MAX / 8)
    throw Error("prepare",
                "a size overflows: " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.cols));
  if (type_ != matrix.dtype) {
    data_ = to_bf16_copy(device, matrix, n);
  } else {
    data_ = Memory(device, matrix.bytes(), "weights");
    device->copy_in(data_.get(), matrix.data, matrix.bytes());
  }
  // The copies of mma need rows that begin at multiples of 16 bytes.
  if (act_type != DType::bf16 || !tensor_cores || matrix.cols % 8 != 0) return;
  const bool passed = library != nullptr && library->prepare(data_.get(), rows(), cols());
  product_ = passed ? Product::library : Product::mma;
}

}  // namespace carbon::cuda
