// The order of sums of this program's products on tensor cores (mma_plan.hpp), including which columns one
// machine instruction sums; and where the factors are in shared memory.
#pragma once

#include "kernels/cuda/instructions.cuh"

namespace carbon::cuda {

/// Eight lines (rows of activations, or outputs of a weight) of a step of 32 columns, as 16-byte words.
inline constexpr int kLines = 8, kLineWords = 4, kWordBytes = 16,
                     kLinesBytes = kLines * kLineWords * kWordBytes;

/// Where a word of a line is, in bytes. ldmatrix reads the same word of eight lines at a time; so that these
/// are in different banks, the words of a line are in another order than those of the line two before.
__device__ inline int line_place(int line, int word) {
  return (line * kLineWords + (word ^ (line / 2 % kLineWords))) * kWordBytes;
}

/// The parts of a lane of the left factors of a step: [0] of columns 0 to 15, [1] of columns 16 to 31.
struct Left {
  uint32_t part[2][4];
};

/// From 16 lines, of which the first eight are at `low`.
__device__ inline Left load_left(const unsigned char* low, const unsigned char* high) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, matrix = lane / kLines;
  const unsigned char* const lines = matrix % 2 == 0 ? low : high;
  Left left;
  load_matrices(left.part[0], lines + line_place(lane % kLines, matrix / 2));
  load_matrices(left.part[1], lines + line_place(lane % kLines, matrix / 2 + 2));
  return left;
}

/// The right factors of a step, from eight lines: [0] and [1] of columns 0 to 15, [2] and [3] of the others.
struct Right {
  uint32_t part[4];
};

__device__ inline Right load_right(const unsigned char* lines) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Right right;
  load_matrices(right.part, lines + line_place(lane % kLines, lane / kLines));
  return right;
}

/// From eight lines; the other eight are zeros.
__device__ inline Left load_half_left(const unsigned char* low) {
  const Right words = load_right(low);
  return {{{words.part[0], 0, words.part[1], 0}, {words.part[2], 0, words.part[3], 0}}};
}

/// c[i][j] += left[i] . right[j] over a step: first columns 0 to 15 of all, then the others, since a product
/// waits for the one that it adds to.
template <int Lefts, int Rights>
__device__ inline void multiply_step(float (*const c[Lefts])[4], const Left left[Lefts],
                                     const Right right[Rights]) {
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int i = 0; i < Lefts; ++i)
#pragma unroll
      for (int j = 0; j < Rights; ++j)
        mma_bf16(c[i][j], left[i].part[half], right[j].part[2 * half], right[j].part[2 * half + 1]);
}

}  // namespace carbon::cuda
