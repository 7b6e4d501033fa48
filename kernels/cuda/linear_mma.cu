// bf16 and f16 matrix products on tensor cores (mma.sync) for many rows: for the prefill class if no product
// of the library passes the test of its shape, or in f16, and for large batches of the decode class.
//
// A block goes through k in steps of 32, with a ring of stages that asynchronous copies fill. Warps keep two
// sums of each output in registers: that of the current slice and that of the slices before. The order of
// sums is that of mma_plan.hpp, so the bits are those of linear_stream.cu, and the number of rows may decide
// which of the two runs. Columns after the end of k and rows after the last row are zeros.
#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/tensor_cores.cuh"

namespace carbon::cuda {
inline namespace linear_mma_file {

// A block has 2 x 4 warps, each with 4 x 4 products of 16 rows by 8 outputs.
constexpr int kWarpsM = 2, kWarpsN = 4, kTiles16 = 4, kTiles8 = 4, kThreads = kWarpsM * kWarpsN * kWarp;
constexpr int kRows = kWarpsM * kTiles16 * 16, kColumns = kWarpsN * kTiles8 * 8;
constexpr int kDepth = static_cast<int>(kMmaDepth), kStages = 4;
static_assert(MmaTile{kRows, kColumns, kStages} == kLargeTile);
// Bytes of the eight lines of a stage after eight others (tensor_cores.cuh), rows first, then outputs.
constexpr int kRowBytes = kRows / kLines * kLinesBytes, kStage = kRowBytes + kColumns / kLines * kLinesBytes;
constexpr size_t kShared = size_t{kStages} * kStage;

/// Starts copying `Rows` rows of 32 columns from column k0 on. Rows from `rows` on become zeros.
template <int Rows>
__device__ void load_rows(unsigned char* to, const uint16_t* from, size_t rows, size_t row0, size_t k,
                          size_t k0) {
  constexpr int kEach = Rows * kLineWords / kThreads;  // words of a thread
  static_assert(kEach * kThreads == Rows * kLineWords);
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const int i = static_cast<int>(threadIdx.x) + e * kThreads;
    const int r = i / kLineWords, word = i % kLineWords;
    const bool valid = row0 + r < rows && k0 + word * 8 < k;
    copy_async(to + r / kLines * kLinesBytes + line_place(r % kLines, word),
               valid ? from + (row0 + r) * k + k0 + word * 8 : from, valid);
  }
}

/// The products of one stage for the rows from `row` on and the outputs from `column` on of this warp.
template <class E>
__device__ void multiply_stage(const unsigned char* stage, int row, int column,
                               float sum[kTiles16][kTiles8][4]) {
  const auto lines = [&](int line) { return stage + line / kLines * kLinesBytes; };
  Right right[kTiles8];
#pragma unroll
  for (int j = 0; j < kTiles8; ++j) right[j] = load_right(lines(kRows + column + j * 8));
#pragma unroll
  for (int i = 0; i < kTiles16; ++i) {
    const Left left = load_left(lines(row + i * 16), lines(row + i * 16 + 8));
    float(*to[1])[4] = {sum[i]};
    multiply_step<E, 1, kTiles8>(to, &left, right);
  }
}

/// Writes the sums of the lane for 16 rows from `to` on, but only to `rows` by `columns` elements. With `add`
/// they are added to the elements there, all of which are requested before the first is written.
__device__ void store_rows(const float total[kTiles8][4], float* to, size_t ld, size_t rows, size_t columns,
                           bool add) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const auto row = [&](int e) { return size_t(lane / 4 + e / 2 * 8); };
  const auto column = [&](int j, int e) { return size_t(j * 8 + lane % 4 * 2 + e % 2); };
  float before[kTiles8][4] = {};
#pragma unroll
  for (int j = 0; j < kTiles8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (add && row(e) < rows && column(j, e) < columns) before[j][e] = to[row(e) * ld + column(j, e)];
#pragma unroll
  for (int j = 0; j < kTiles8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (row(e) < rows && column(j, e) < columns)
        to[row(e) * ld + column(j, e)] = add ? before[j][e] + total[j][e] : total[j][e];
}

/// total += sum; sum = 0.
__device__ void end_slice(float total[kTiles16][kTiles8][4], float sum[kTiles16][kTiles8][4]) {
#pragma unroll
  for (int i = 0; i < kTiles16; ++i)
#pragma unroll
    for (int j = 0; j < kTiles8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        total[i][j][e] += sum[i][j][e];
        sum[i][j][e] = 0.0f;
      }
}

/// total *= the factors of the outputs of the lane, of which there are `columns` from the first one of its
/// warp on.
__device__ void scale(float total[kTiles16][kTiles8][4], const float* scales, size_t columns) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll
  for (int j = 0; j < kTiles8; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const size_t column = size_t(j * 8 + lane % 4 * 2 + e);
      const float factor = column < columns ? scales[column] : 0.0f;
#pragma unroll
      for (int i = 0; i < kTiles16; ++i) {
        total[i][j][e] *= factor;
        total[i][j][2 + e] *= factor;
      }
    }
}

/// The elements of act and weight have type E.
template <class E>
__global__ void __launch_bounds__(kThreads)
    linear_kernel(const uint16_t* act, const uint16_t* weight, const float* scales, size_t n, size_t outputs,
                  size_t k, int steps, int slice, float* out, size_t ld_out, uint32_t add) {
  begin_kernel();
  unsigned char* const stages = shared_memory();
  const size_t row0 = size_t{blockIdx.y} * kRows, column0 = size_t{blockIdx.x} * kColumns;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int row = warp / kWarpsN * kTiles16 * 16, column = warp % kWarpsN * kTiles8 * 8;
  const auto start = [&](int step) {
    if (step < steps) {
      unsigned char* const stage = stages + step % kStages * kStage;
      load_rows<kRows>(stage, act, n, row0, k, size_t(step) * kDepth);
      load_rows<kColumns>(stage + kRowBytes, weight, outputs, column0, k, size_t(step) * kDepth);
    }
    copy_async_commit();
  };
#pragma unroll
  for (int step = 0; step < kStages - 1; ++step) start(step);

  float total[kTiles16][kTiles8][4] = {}, sum[kTiles16][kTiles8][4] = {};
  for (int step = 0, left = slice; step < steps; ++step) {
    copy_async_wait<kStages - 2>();
    // Now all copies of this stage are complete, and all warps are done with the stage that start() fills.
    __syncthreads();
    start(step + kStages - 1);
    multiply_stage<E>(stages + step % kStages * kStage, row, column, sum);
    if (--left > 0 && step + 1 < steps) continue;
    end_slice(total, sum);
    left = slice;
  }

  const auto left = [](size_t all, size_t first) { return all > first ? all - first : 0; };
  const size_t c = column0 + column;
  if constexpr (std::is_same_v<E, F16>) scale(total, scales + c, left(outputs, c));
#pragma unroll
  for (int i = 0; i < kTiles16; ++i) {
    const size_t r = row0 + row + i * 16;
    store_rows(total[i], out + r * ld_out + c, ld_out, left(n, r), left(outputs, c), add != 0);
  }
}

template <class E>
void run(Stream& stream, const LinearCall& c) {
  // The second dimension of a grid has at most 65,535 blocks.
  constexpr size_t kMaxRows = size_t{65535} * kRows;
  for (size_t row = 0; row < c.n; row += kMaxRows) {
    const size_t n = c.n - row < kMaxRows ? c.n - row : kMaxRows;
    launch(linear_kernel<E>, dim3(blocks(c.outputs, kColumns), blocks(n, kRows)), kThreads, kShared, stream,
           static_cast<const uint16_t*>(c.act) + row * c.k, static_cast<const uint16_t*>(c.weight), c.scales,
           n, c.outputs, c.k, static_cast<int>(mma_steps(c.k)), static_cast<int>(mma_slice(c.k)),
           c.out + row * c.ld_out, c.ld_out, c.add ? 1u : 0u);
  }
}

}  // namespace linear_mma_file

void run_linear_mma(Stream& stream, const LinearCall& call) {
  if (call.scales != nullptr)
    run<F16>(stream, call);
  else
    run<Bf16>(stream, call);
}

}  // namespace carbon::cuda
