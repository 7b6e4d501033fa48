#include "kernels/cuda/weight.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cuda/kernels.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

// The number of elements that are copied to the device and converted to another type at a time.
constexpr size_t kChunk = size_t{1} << 24;

/// Copies the elements of the matrix to device memory, as `type`.
void copy_as(const std::shared_ptr<const Device>& device, const TensorView& matrix, WeightType type,
             void* to) {
  if (matrix.dtype == type) return device->copy_in(to, matrix.data, matrix.bytes());
  const size_t n = matrix.rows * matrix.cols, chunk = std::min(n, kChunk);
  // Blocks with a scale are widened here, because the kernels know only types with blocks of one number.
  const bool blocks = matrix.dtype == WeightType::q8_0;
  const WeightType sent = blocks ? WeightType::f32 : matrix.dtype;
  std::vector<float> wide(blocks ? chunk : 0);
  const Memory passing(device, weight_bytes(sent, chunk), "weights on their way");
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    const void* from = static_cast<const char*>(matrix.data) + weight_bytes(matrix.dtype, i);
    if (blocks) {
      widen_q8_0(from, count, wide.data());
      from = wide.data();
    }
    device->copy_in(passing.get(), from, weight_bytes(sent, count));
    run_convert(device->stream(), passing.get(), sent, count, static_cast<char*>(to) + i * dtype_size(type),
                type);
  }
}

WeightType common_type(std::span<const TensorView> matrices, DType act_type) {
  if (act_type == DType::bf16) return WeightType::bf16;
  const WeightType first = matrices.front().dtype;
  if (first == WeightType::q8_0) return WeightType::f32;
  const auto same = [&](const TensorView& matrix) { return matrix.dtype == first; };
  return std::ranges::all_of(matrices, same) ? first : WeightType::f32;
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
  // The kernels for tensor cores copy 16 bytes at a time, so rows must begin at multiples of that.
  if (act_type == DType::bf16 && tensor_cores && cols() % 8 == 0) prepare_library(library);
}

CudaWeight::CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library)
    : Weight(whole.starts_[first + count] - whole.starts_[first], whole.cols()),
      memory_(whole.memory_),
      data_(static_cast<const char*>(whole.data_) + whole.starts_[first] * cols() * dtype_size(whole.type_)),
      type_(whole.type_) {
  for (size_t i = 1; i <= count; ++i) starts_.push_back(whole.starts_[first + i] - whole.starts_[first]);
  if (whole.tensor_cores_) prepare_library(library);
}

void CudaWeight::prepare_library(Matmul* library) {
  tensor_cores_ = true;
  if (library == nullptr) return;
  for (const MatmulResult result : kMatmulResults)
    by_library_[static_cast<size_t>(result)] = library->prepare(rows(), cols(), result);
}

}  // namespace carbon::cuda
