// What the attention kernels on tensor cores share: sizes, and the computation of scores.
#pragma once

#include "kernels/cuda/device_math.cuh"

namespace carbon::cuda {

/// Sizes for one head size.
template <int Dim>
struct HeadSizes {
  static constexpr int kDim = Dim, kSteps = Dim / 16;
  // Elements between rows in shared memory: an odd number of 16-byte units, so that the eight rows of a
  // matrix are in different banks.
  static constexpr int kStride = Dim + 8;
};

/// score[j] = queries . keys for the 8 keys from 8 j on, out of `Keys` in shared memory.
template <class H, int Keys>
__device__ void multiply_keys(const uint32_t query[H::kSteps][4], const Bf16* keys,
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
      mma_bf16(score[j], query[step], b[0], b[1]);
      mma_bf16(score[j + 1], query[step], b[2], b[3]);
    }
}

/// The factor of scores for exp2: 1 / sqrt(head size), times the factor that makes powers of e powers of 2.
inline float score_scale(size_t head_dim) {
  return static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(head_dim)));
}

}  // namespace carbon::cuda
