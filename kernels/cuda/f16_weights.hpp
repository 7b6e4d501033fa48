// The exponents by which weights are stored in f16. This is host code without CUDA, so that unit tests can
// check it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {

/// 2^exponent. Throws Error(function, ...) unless f32 has it as a normal number.
inline float f16_scale(const char* function, int exponent) {
  if (exponent < -126 || exponent > 127)
    throw Error(
        function,
        "numbers of this size cannot be computed in f16: a scale would be 2^" + std::to_string(exponent),
        {"use {--dtype} bf16 or f32"});
  return std::ldexp(1.0f, exponent);
}

/// The largest absolute value of the matrix, apart from numbers that are not finite.
inline float largest_of(const TensorView& matrix) {
  std::vector<float> wide;
  float largest = 0;
  for (size_t i = 0; i < matrix.rows; ++i) {
    const void* const row = matrix.row(i);
    if (matrix.dtype == WeightType::bf16 || matrix.dtype == WeightType::f16) {
      // Without the sign, the bits of finite numbers are in the order of the numbers.
      const unsigned infinite = matrix.dtype == WeightType::bf16 ? 0x7f80 : 0x7c00;
      unsigned top = 0;
      for (size_t j = 0; j < matrix.cols; ++j) {
        uint16_t bits;
        std::memcpy(&bits, static_cast<const char*>(row) + j * sizeof bits, sizeof bits);
        const unsigned magnitude = bits & 0x7fffu;
        if (magnitude < infinite && magnitude > top) top = magnitude;
      }
      const auto bits = static_cast<uint16_t>(top);
      largest = std::fmax(largest, matrix.dtype == WeightType::bf16 ? to_float({bits}) : half_to_float(bits));
      continue;
    }
    wide.resize(matrix.cols);
    if (matrix.dtype == WeightType::q8_0)
      widen_q8_0(row, matrix.cols, wide.data());
    else
      std::memcpy(wide.data(), row, matrix.row_bytes());
    for (const float value : wide)
      if (std::isfinite(value)) largest = std::fmax(largest, std::fabs(value));
  }
  return largest;
}

/// The exponent e of a matrix whose numbers are stored as their 2^-e-fold: the least with which the largest
/// of them does not become infinite. It is at least -126, so that f32 has the factor.
inline int f16_exponent(const TensorView& matrix) {
  constexpr int kTop = 15;  // the exponent of the largest f16
  const float largest = largest_of(matrix);
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest) - kTop;
  // What rounds to more than the largest f16, which only numbers with more than 11 bits do.
  const bool above = std::ldexp(static_cast<double>(largest), -exponent) >= 65520;
  return std::max(above ? exponent + 1 : exponent, -126);
}

}  // namespace carbon::cuda
