// The one order in which own products on tensor cores sum (mma_plan.hpp), down to which columns a machine
// instruction takes together.
#pragma once

#include "kernels/cuda/instructions.cuh"

namespace carbon::cuda {

/// Eight bf16 of a row, as a lane holds them of the 32 columns of a step: columns 8 t to 8 t + 7, with t =
/// lane % 4.
struct Eight {
  uint32_t pair[4];
};

__device__ inline Eight load_eight(const void* shared) {
  Eight result;
  load_words(result.pair, shared);
  return result;
}

/// c += left . right over a step: left has 16 rows, of which this lane holds its part of row lane / 4 (`low`)
/// and the eighth behind it (`high`); right has 8 columns, of which it holds that of column lane / 4. Two
/// products of 16: of the first four of everyone's eight, then of the others. Which columns of a step are
/// summed together is thus fixed without a lane ever passing anything on, and whole 16-byte words are read.
__device__ inline void multiply_step(float c[4], const Eight& low, const Eight& high, const Eight& right) {
  const uint32_t first[4] = {low.pair[0], high.pair[0], low.pair[1], high.pair[1]};
  mma_bf16(c, first, right.pair[0], right.pair[1]);
  const uint32_t second[4] = {low.pair[2], high.pair[2], low.pair[3], high.pair[3]};
  mma_bf16(c, second, right.pair[2], right.pair[3]);
}

}  // namespace carbon::cuda
