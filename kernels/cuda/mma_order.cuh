// The order of sums of this program's products on tensor cores (mma_plan.hpp), including which columns one
// machine instruction sums.
#pragma once

#include "kernels/cuda/instructions.cuh"

namespace carbon::cuda {

/// The eight bf16 that a lane has of the 32 columns of a step in a row: columns 8 t to 8 t + 7, with t = lane
/// % 4.
struct Eight {
  uint32_t pair[4];
};

__device__ inline Eight load_eight(const void* shared) {
  Eight result;
  load_words(result.pair, shared);
  return result;
}

/// c += left . right over a step. `left` has 16 rows; this lane has its part of row lane / 4 (`low`) and of
/// row lane / 4 + 8 (`high`). `right` has 8 columns; this lane has its part of column lane / 4. There are two
/// products of 16 columns each: the first takes the first four of the eight columns of every lane, the second
/// takes the others. So which columns are summed together is fixed, lanes need not exchange elements, and
/// they read whole 16-byte words.
__device__ inline void multiply_step(float c[4], const Eight& low, const Eight& high, const Eight& right) {
  const uint32_t first[4] = {low.pair[0], high.pair[0], low.pair[1], high.pair[1]};
  mma_bf16(c, first, right.pair[0], right.pair[1]);
  const uint32_t second[4] = {low.pair[2], high.pair[2], low.pair[3], high.pair[3]};
  mma_bf16(c, second, right.pair[2], right.pair[3]);
}

}  // namespace carbon::cuda
