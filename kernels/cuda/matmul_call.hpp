// A matrix product that a library computes.
#pragma once

#include <cstddef>

#include "kernels/tensor.hpp"

namespace carbon::cuda {

/// The results of a product: stored as f32 or bf16, or added to f32.
enum class MatmulResult { f32, bf16, added };
inline constexpr MatmulResult kMatmulResults[] = {MatmulResult::f32, MatmulResult::bf16, MatmulResult::added};
constexpr size_t result_bytes(MatmulResult result) {
  return result == MatmulResult::bf16 ? 2 : 4;
}

/// A product of bf16 matrices whose results have leading dimension ld_out.
struct MatmulCall {
  const void* act;     // [n, k]
  const void* weight;  // [outputs, k]
  size_t n, outputs, k;
  void* out;
  size_t ld_out;
  MatmulResult result;

  /// The rows [first, first + count).
  MatmulCall part(size_t first, size_t count) const {
    MatmulCall some = *this;
    some.act = static_cast<const bf16*>(act) + first * k;
    some.out = static_cast<char*>(out) + first * ld_out * result_bytes(result);
    some.n = count;
    return some;
  }
};

}  // namespace carbon::cuda
