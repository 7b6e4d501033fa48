// bf16 matrix products on tensor cores (mma.sync), for the shapes where no library product passes the
// self-test and for few rows.
//
// A block walks k in steps of 32 through a ring of stages filled by asynchronous copies; warps hold their
// outputs in registers. An output is one chain of m16n8k16 products over ascending k whatever the tile's
// size, so both tile sizes give the same bits and the choice may depend on the number of rows. Columns of k
// beyond the end and rows beyond the last are zeros.
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
namespace {

/// WarpsM x WarpsN warps, each with Tiles16 x Tiles8 products of 16 rows by 8 outputs.
template <int WarpsM, int WarpsN, int Tiles16, int Tiles8>
struct Shape {
  static constexpr int kWarpsN = WarpsN, kTiles16 = Tiles16, kTiles8 = Tiles8;
  static constexpr int kRows = WarpsM * Tiles16 * 16, kColumns = WarpsN * Tiles8 * 8;
  static constexpr int kThreads = WarpsM * WarpsN * kWarp;
  static constexpr int kDepth = 32, kStages = 4;
  // Elements between rows in shared memory: 80 bytes, an odd number of 16-byte units, so that the eight rows
  // of a matrix lie in different banks.
  static constexpr int kStride = kDepth + 8;
  static constexpr int kStage = (kRows + kColumns) * kStride;  // elements
  static constexpr size_t kShared = size_t{kStages} * kStage * sizeof(Bf16);
};
using Large = Shape<2, 4, 4, 4>;  // 128 rows x 128 outputs
using Small = Shape<1, 4, 1, 2>;  // 16 rows x 64 outputs

/// Starts copying `Rows` rows of 32 columns from column k0 on; rows from `rows` on become zeros.
template <int Rows, class S>
__device__ void load_rows(Bf16* to, const Bf16* from, size_t rows, size_t row0, size_t k, size_t k0) {
  constexpr int kChunks = S::kDepth / 8;  // of 16 bytes, a row
  for (int i = static_cast<int>(threadIdx.x); i < Rows * kChunks; i += S::kThreads) {
    const int r = i / kChunks, c = i % kChunks * 8;
    const bool valid = row0 + r < rows && k0 + c < k;
    copy_async(to + r * S::kStride + c, valid ? from + (row0 + r) * k + k0 + c : from, valid);
  }
}

/// The products of one stage for this warp's rows from `row` on and outputs from `column` on.
template <class S>
__device__ void multiply_stage(const Bf16* act, const Bf16* weight, int row, int column,
                               float sum[S::kTiles16][S::kTiles8][4]) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int k = 0; k < S::kDepth; k += 16) {
    uint32_t b[S::kTiles8][2];
#pragma unroll
    for (int j = 0; j < S::kTiles8; j += 2) {
      // Matrices: outputs 0-7 of columns 0-7 and 8-15, then outputs 8-15.
      uint32_t four[4];
      const int output = column + j * 8 + lane % 8 + lane / 16 * 8;
      load_matrices(four, weight + output * S::kStride + k + lane / 8 % 2 * 8);
      b[j][0] = four[0], b[j][1] = four[1];
      b[j + 1][0] = four[2], b[j + 1][1] = four[3];
    }
#pragma unroll
    for (int i = 0; i < S::kTiles16; ++i) {
      uint32_t a[4];
      load_matrices(a, act + (row + i * 16 + lane % 16) * S::kStride + k + lane / 16 * 8);
#pragma unroll
      for (int j = 0; j < S::kTiles8; ++j) mma_bf16(sum[i][j], a, b[j][0], b[j][1]);
    }
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads)
    linear_kernel(const Bf16* act, const Bf16* weight, size_t n, size_t outputs, size_t k, float* out,
                  size_t ld_out) {
  Bf16* const stages = reinterpret_cast<Bf16*>(shared_memory());  // [kStages][rows, then outputs][kStride]
  const size_t row0 = size_t{blockIdx.y} * S::kRows, column0 = size_t{blockIdx.x} * S::kColumns;
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = warp / S::kWarpsN * S::kTiles16 * 16, column = warp % S::kWarpsN * S::kTiles8 * 8;
  const int steps = static_cast<int>((k + S::kDepth - 1) / S::kDepth);
  const auto start = [&](int step) {
    if (step < steps) {
      Bf16* const stage = stages + step % S::kStages * S::kStage;
      load_rows<S::kRows, S>(stage, act, n, row0, k, size_t(step) * S::kDepth);
      load_rows<S::kColumns, S>(stage + S::kRows * S::kStride, weight, outputs, column0, k,
                                size_t(step) * S::kDepth);
    }
    copy_async_commit();
  };
#pragma unroll
  for (int step = 0; step < S::kStages - 1; ++step) start(step);

  float sum[S::kTiles16][S::kTiles8][4] = {};
  for (int step = 0; step < steps; ++step) {
    copy_async_wait<S::kStages - 2>();
    // All copies of this stage have landed, and all warps are done with the stage that start() fills.
    __syncthreads();
    start(step + S::kStages - 1);
    const Bf16* const stage = stages + step % S::kStages * S::kStage;
    multiply_stage<S>(stage, stage + S::kRows * S::kStride, row, column, sum);
  }
  copy_async_wait<0>();

#pragma unroll
  for (int i = 0; i < S::kTiles16; ++i)
#pragma unroll
    for (int j = 0; j < S::kTiles8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const size_t r = row0 + row + i * 16 + lane / 4 + e / 2 * 8;
        const size_t c = column0 + column + j * 8 + lane % 4 * 2 + e % 2;
        if (r < n && c < outputs) out[r * ld_out + c] = sum[i][j][e];
      }
}

template <class S>
void run_shape(cudaStream_t stream, const LinearCall& c) {
  // The grid's second dimension ends at 65,535 blocks.
  constexpr size_t kMaxRows = size_t{65535} * S::kRows;
  for (size_t row = 0; row < c.n; row += kMaxRows) {
    const size_t n = c.n - row < kMaxRows ? c.n - row : kMaxRows;
    launch(linear_kernel<S>, dim3(blocks(c.outputs, S::kColumns), blocks(n, S::kRows)), S::kThreads,
           S::kShared, stream, static_cast<const Bf16*>(c.act) + row * c.k,
           static_cast<const Bf16*>(c.weight), n, c.outputs, c.k, c.out + row * c.ld_out, c.ld_out);
  }
}

}  // namespace

void run_linear_mma(cudaStream_t stream, const LinearCall& call) {
  if (call.n <= Small::kRows)
    run_shape<Small>(stream, call);
  else
    run_shape<Large>(stream, call);
}

}  // namespace carbon::cuda
