// What matrices must be like to make one weight, whatever the backend.
#pragma once

#include <span>
#include <string>

#include "kernels/tensor.hpp"
#include "src/util/error.hpp"

namespace carbon::ops {

/// The outputs of all of them. Throws Error unless there are some, none is empty and all have one width.
inline size_t joined_rows(std::span<const TensorView> matrices) {
  if (matrices.empty()) throw Error("prepare", "a weight of no matrices");
  const size_t cols = matrices.front().cols;
  size_t rows = 0;
  for (const TensorView& matrix : matrices) {
    if (matrix.data == nullptr || matrix.rows == 0 || matrix.cols == 0)
      throw Error("prepare", "an empty weight matrix: " + std::to_string(matrix.rows) + " x " +
                                 std::to_string(matrix.cols));
    if (matrix.cols != cols)
      throw Error("prepare", "matrices of " + std::to_string(cols) + " and " + std::to_string(matrix.cols) +
                                 " columns do not make one weight");
    rows += matrix.rows;
  }
  return rows;
}

/// Throws Error unless matrices [first, first + count) are some of `matrices`.
inline void check_part(size_t first, size_t count, size_t matrices) {
  if (count == 0 || first > matrices || count > matrices - first)
    throw Error("part", std::to_string(count) + " matrices from number " + std::to_string(first) +
                            " on of a weight of " + std::to_string(matrices));
}

}  // namespace carbon::ops
