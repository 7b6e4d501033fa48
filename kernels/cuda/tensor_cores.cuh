// What the kernels on tensor cores share.
//
// Products: the order of their sums (mma_plan.hpp), including which columns one machine instruction sums, and
// where the factors are in shared memory. Attention: sizes, and the computation of scores.
#pragma once

#include "kernels/cuda/device_math.cuh"

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

/// c += a . b, where a is 16 x 16 and b is 16 x 8 of bf16 or f16, and c is f32.
template <class T>
__device__ inline void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, F16>)
    mma_f16(c, a, b0, b1);
  else
    mma_bf16(c, a, b0, b1);
}

/// c[i][j] += left[i] . right[j] over a step: first columns 0 to 15 of all, then the others, since a product
/// waits for the one that it adds to.
template <class T, int Lefts, int Rights>
__device__ inline void multiply_step(float (*const c[Lefts])[4], const Left left[Lefts],
                                     const Right right[Rights]) {
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int i = 0; i < Lefts; ++i)
#pragma unroll
      for (int j = 0; j < Rights; ++j)
        mma<T>(c[i][j], left[i].part[half], right[j].part[2 * half], right[j].part[2 * half + 1]);
}

/// Sizes for one head size, and the type of queries, keys and values.
template <class T, int Dim>
struct HeadSizes {
  using Element = T;
  static constexpr int kDim = Dim, kSteps = Dim / 16;
  // Elements between rows in shared memory: an odd number of 16-byte units, so that the eight rows of a
  // matrix are in different banks.
  static constexpr int kStride = Dim + 8;
};

/// score[j] = queries . keys for the 8 keys from 8 j on, out of `Keys` in shared memory.
template <class H, int Keys>
__device__ void multiply_keys(const uint32_t query[H::kSteps][4], const typename H::Element* keys,
                              float score[Keys / 8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int j = 0; j < Keys / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) score[j][e] = 0.0f;
      // All keys take a step before any takes the next one, since a product waits for the one that it adds
      // to.
#pragma unroll
  for (int step = 0; step < H::kSteps; ++step)
#pragma unroll
    for (int j = 0; j < Keys / 8; j += 2) {
      // Matrices: keys 0-7 of elements 0-7 and 8-15, then keys 8-15.
      uint32_t b[4];
      const int key = j * 8 + lane % 8 + lane / 16 * 8;
      load_matrices(b, keys + key * H::kStride + step * 16 + lane / 8 % 2 * 8);
      mma<typename H::Element>(score[j], query[step], b[0], b[1]);
      mma<typename H::Element>(score[j + 1], query[step], b[2], b[3]);
    }
}

/// The factor of scores for exp2: 1 / sqrt(head size), times the factor that makes powers of e powers of 2,
/// times 2^exponent.
inline float score_scale(size_t head_dim, int exponent) {
  return static_cast<float>(
      std::ldexp(1.4426950408889634 / std::sqrt(static_cast<double>(head_dim)), exponent));
}

}  // namespace carbon::cuda
