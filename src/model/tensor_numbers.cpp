// Rows of any type as f32, and comparisons. See tensor_numbers.hpp.
#include "src/model/tensor_numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "src/model/mapped_file.hpp"

namespace carbon {
namespace {

/// Rounds the numbers to a type that has no blocks.
void round_to(WeightType type, std::vector<float>& numbers) {
  if (type == WeightType::bf16)
    for (float& number : numbers) number = to_float(to_bf16(number));
  if (type == WeightType::f16)
    for (float& number : numbers) number = half_to_float(float_to_half(number));
}

bool equal_rows(const TensorView& copy, const TensorView& original) {
  if (copy.dtype == original.dtype) return std::memcmp(copy.data, original.data, copy.bytes()) == 0;
  if (copy.dtype == WeightType::q8_0) return false;
  std::vector<float> a(copy.cols), b(copy.cols);
  for (size_t i = 0; i < copy.rows; ++i) {
    widen_row(copy, i, a.data());
    widen_row(original, i, b.data());
    round_to(copy.dtype, b);
    if (a != b) return false;
  }
  return true;
}

}  // namespace

void widen_row(const TensorView& matrix, size_t row, float* out) {
  if (matrix.dtype == WeightType::q8_0) return widen_q8_0(matrix.row(row), matrix.cols, out);
  if (matrix.dtype == WeightType::f32) {
    std::memcpy(out, matrix.row(row), matrix.cols * sizeof(float));
    return;
  }
  const char* const data = static_cast<const char*>(matrix.row(row));
  for (size_t j = 0; j < matrix.cols; ++j) {
    uint16_t half;
    std::memcpy(&half, data + j * sizeof half, sizeof half);
    out[j] = matrix.dtype == WeightType::bf16 ? to_float(bf16{half}) : half_to_float(half);
  }
}

bool is_copy_of(const TensorView& copy, const TensorView& original) {
  if (copy.rows != original.rows || copy.cols != original.cols) return false;
  const bool same = equal_rows(copy, original);
  for (const TensorView& read : {copy, original})
    if (read.mapped_file) give_back_pages(read.data, read.bytes());
  return same;
}

}  // namespace carbon
