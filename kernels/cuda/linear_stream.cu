// bf16 and f16 matrix products on tensor cores for few rows: the decode class (ops::RowClass). Its time is
// that of reading the weights once.
//
// A block has one warp per slice of k (mma_plan.hpp). Asynchronous copies of 16 bytes bring weights and
// activations through a ring of stages in shared memory; a stage is a step of 32 columns of each slice, and
// there are enough stages to keep the memory busy (mma_plan.hpp). Each warp has a private part of the ring,
// so warps do not wait for one another until the sums of the slices are added at the end. Activations are the
// left factor of mma and weights the right one, so a block may have as few as 8 outputs, and a weight with
// few outputs still has blocks for most multiprocessors.
//
// A warp has a scheduler of its multiprocessor almost for itself, so each instruction of a step counts:
// ldmatrix leaves the factors in the registers where mma wants them, the addresses of a copy are those of the
// step before and a constant, and products that add to the same sums are far apart.
//
// The bits of an output depend neither on the tile nor on the other rows, because its order of sums is that
// of mma_plan.hpp.
#include <iterator>
#include <type_traits>
#include <utility>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/cuda/tensor_cores.cuh"

namespace carbon::cuda {
inline namespace linear_stream_file {

constexpr int kSlices = static_cast<int>(kMmaSlices), kThreads = kSlices * kWarp;

/// A tile, in units of eight rows and eight outputs.
template <int Rows, int Outputs, int Stages>
struct Tile {
  static constexpr MmaTile kTile{Rows, Outputs, Stages};
  static constexpr int kRows = Rows, kOutputs = Outputs;
  static constexpr int kRowParts = Rows / 8, kOutputParts = Outputs / 8;
  static constexpr int kLefts = (Rows + 15) / 16;  // left factors of mma
  static constexpr int kStages = Stages;
  static constexpr int kStage = static_cast<int>(stream_stage_bytes(kTile));
  static constexpr size_t kShared = stream_shared_bytes(kTile);
  static_assert(kStages >= 3 && kStage == (kRowParts + kOutputParts) * kSlices * kLinesBytes);
  static_assert(kShared >=
                sizeof(float) * kSlices * Rows * Outputs);  // the sums of slices use the memory of the ring
};

/// What a block multiplies: rows from `act` on by outputs from `weight` on. With SwiGLU half of the outputs
/// belong to each of two weights.
struct Operands {
  const uint16_t* act;                  // [n, k]
  const uint16_t* weight;               // [outputs, k]
  const uint16_t* second;               // with SwiGLU, the other weight
  const float *scales, *second_scales;  // of f16, the factors of the outputs of each
  size_t n, outputs, k;                 // n and outputs are the numbers from here on
  int steps, slice;                     // steps in k, and steps in a slice
};

/// The part of the ring of this warp. A lane copies one word of eight lines at a time (tensor_cores.cuh).
template <class T, class E, bool Swiglu>
class Ring {
 public:
  __device__ explicit Ring(const Operands& o) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
    const int line = lane / kLineWords, word = lane % kLineWords;
    const int first = warp * o.slice, left = o.steps - first;
    steps_ = left < o.slice ? left : o.slice;
    const size_t column = static_cast<size_t>(first) * kMmaDepth + static_cast<size_t>(word) * 8;
    columns_ = column < o.k ? o.k - column : 0;
    rows_ = limit(o.n, line);
    outputs_ = limit(o.outputs, line);
    const size_t at = static_cast<size_t>(line) * o.k + column;
    act_ = o.act + at;
    weight_ = o.weight + at;
    if (Swiglu) second_ = o.second + at;
    jump_ = o.k * kLines;
    lines_ = shared_memory() + warp * kLinesBytes;
    place_ = line_place(line, word);
  }

  /// The number of steps of the slice; 0 or negative if k ends before it.
  __device__ int steps() const { return steps_; }

  /// Starts copying the next step to a stage. After the last step it makes an empty group, so that groups can
  /// be counted.
  __device__ void start(int step, int stage) {
    if (step < steps_) {
      const bool inside = columns_ > static_cast<size_t>(step) * kMmaDepth;
      unsigned char* const to = lines(stage, 0) + place_;
#pragma unroll
      for (int i = 0; i < T::kRowParts; ++i)
        copy_async(to + i * kPart, act_ + i * jump_, inside && i * kLines < rows_);
#pragma unroll
      for (int j = 0; j < T::kOutputParts; ++j)
        copy_async(to + (T::kRowParts + j) * kPart, weight(j), inside && j % kEach * kLines < outputs_);
      act_ += kMmaDepth;
      weight_ += kMmaDepth;
      if (Swiglu) second_ += kMmaDepth;
    }
    copy_async_commit();
  }

  /// Requests the weights of the first steps of the ring. No kernel writes weights, so this need not wait for
  /// the previous kernel.
  __device__ void prefetch_weights() const {
    for (int step = 0; step < T::kStages - 1 && step < steps_; ++step)
#pragma unroll
      for (int j = 0; j < T::kOutputParts; ++j)
        if (columns_ > static_cast<size_t>(step) * kMmaDepth && j % kEach * kLines < outputs_)
          prefetch(weight(j) + step * kMmaDepth);
  }

  /// sum += the products of a stage whose copies are complete, also those of the other lanes.
  __device__ void multiply(int stage, float sum[T::kLefts][T::kOutputParts][4]) const {
    // So many outputs at a time that products of the same sums have several others between them.
    constexpr int kTogether = T::kLefts >= 4                    ? 1
                              : T::kOutputParts < 4 / T::kLefts ? T::kOutputParts
                                                                : 4 / T::kLefts;
    static_assert(T::kOutputParts % kTogether == 0);
    Left left[T::kLefts];
#pragma unroll
    for (int i = 0; i < T::kLefts; ++i) {
      if constexpr (T::kRows > 8)
        left[i] = load_left(lines(stage, 2 * i), lines(stage, 2 * i + 1));
      else
        left[i] = load_half_left(lines(stage, i));
    }
#pragma unroll
    for (int j = 0; j < T::kOutputParts; j += kTogether) {
      Right right[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) right[t] = load_right(lines(stage, T::kRowParts + j + t));
      float(*to[T::kLefts])[4];
#pragma unroll
      for (int i = 0; i < T::kLefts; ++i) to[i] = sum[i] + j;
      multiply_step<E, T::kLefts, kTogether>(to, left, right);
    }
  }

 private:
  static constexpr int kPart = kSlices * kLinesBytes;  // bytes of eight lines of all warps
  static constexpr int kEach = Swiglu ? T::kOutputParts / 2 : T::kOutputParts;

  /// How many of `all` lines there are from `line` on, as far as a tile goes.
  __device__ static int limit(size_t all, int line) {
    const size_t most = T::kRows > T::kOutputs ? T::kRows : T::kOutputs, n = all < most ? all : most;
    return static_cast<int>(n) - line;
  }
  __device__ const uint16_t* weight(int j) const {
    return (j < kEach ? weight_ : second_) + j % kEach * jump_;
  }
  __device__ unsigned char* lines(int stage, int part) const {
    return lines_ + stage * T::kStage + part * kPart;
  }

  const uint16_t *act_, *weight_, *second_ = nullptr;  // of this lane's word in the next step to copy
  size_t jump_;                                        // elements to the line eight lines on
  size_t columns_;                                     // from this lane's word in the first step on
  unsigned char* lines_;
  int place_, steps_, rows_, outputs_;
};

/// Writes the sums of this warp to partial[slice][Rows][Outputs].
template <class T>
__device__ void store_slice(const float sum[T::kLefts][T::kOutputParts][4], float* partial) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, slice = static_cast<int>(threadIdx.x) / kWarp;
#pragma unroll
  for (int i = 0; i < T::kLefts; ++i)
#pragma unroll
    for (int j = 0; j < T::kOutputParts; ++j)
#pragma unroll
      for (int e = 0; e < (T::kRows > 8 ? 4 : 2); ++e) {
        const int row = i * 16 + e / 2 * 8 + lane / 4, output = j * 8 + lane % 4 * 2 + e % 2;
        partial[(slice * T::kRows + row) * T::kOutputs + output] = sum[i][j][e];
      }
}

/// Adds the sums of the slices for one element of the tile, in order.
template <class T>
__device__ float add_slices(const float* partial, int row, int output) {
  float total = 0.0f;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice)
    total += partial[(slice * T::kRows + row) * T::kOutputs + output];
  return total;
}

/// The elements of the results of a tile that a thread writes, one group at a time.
template <class T, class Out>
struct Written {
  static constexpr bool kSwiglu = !std::is_same_v<Out, float>;
  static constexpr int kEach = kSwiglu ? T::kOutputs / 2 : T::kOutputs;  // outputs that are written
  static constexpr int kElements = (T::kRows * kEach + kThreads - 1) / kThreads;
  static constexpr int kGroup = kElements < 8 ? kElements : 8;
  static_assert(kElements % kGroup == 0);

  Out* out;  // of the tile
  size_t ld;
  size_t n, outputs;  // the numbers of rows and outputs from the tile on

  __device__ static int row(int element) { return index(element) / kEach; }
  __device__ static int output(int element) { return index(element) % kEach; }
  __device__ Out* place(int element) const {
    return index(element) < T::kRows * kEach && static_cast<size_t>(row(element)) < n &&
                   static_cast<size_t>(output(element)) < outputs
               ? out + size_t(row(element)) * ld + output(element)
               : nullptr;
  }
  /// The present values of the elements of a group.
  __device__ void read(int first, float values[kGroup]) const {
#pragma unroll
    for (int e = 0; e < kGroup; ++e)
      if (const Out* const from = place(first + e)) values[e] = *from;
  }

 private:
  __device__ static int index(int element) {
    return static_cast<int>(threadIdx.x) + element * kThreads;
  }
};

/// The elements of the factors have type E. So has out with SwiGLU; otherwise it is float, with leading
/// dimension ld_out, and with `add` results are added to it.
template <class T, class E, class Out>
__global__ void __launch_bounds__(kThreads)
    stream_kernel(Operands operands, Out* out, size_t ld_out, uint32_t add) {
  using W = Written<T, Out>;
  // If there are few elements, they are requested early, so that there is no wait for them at the end.
  constexpr bool kEarly = !W::kSwiglu && W::kElements <= 4;
  const size_t row0 = size_t{blockIdx.y} * T::kRows, output0 = size_t{blockIdx.x} * W::kEach;
  operands.act += row0 * operands.k;
  operands.weight += output0 * operands.k;
  if (W::kSwiglu) operands.second += output0 * operands.k;
  if (std::is_same_v<E, F16>) {
    operands.scales += output0;
    if (W::kSwiglu) operands.second_scales += output0;
  }
  operands.n -= row0;
  operands.outputs -= output0;
  const W written{out + row0 * ld_out + output0, ld_out, operands.n, operands.outputs};

  start_next_kernel();
  Ring<T, E, W::kSwiglu> ring(operands);
  ring.prefetch_weights();
  wait_for_last_kernel();
#pragma unroll
  for (int step = 0; step < T::kStages - 1; ++step) ring.start(step, step);
  float before[W::kGroup] = {};
  if constexpr (kEarly)
    if (add != 0) written.read(0, before);
  float sum[T::kLefts][T::kOutputParts][4] = {};
  int stage = 0, free = T::kStages - 1;
  for (int step = 0; step < ring.steps(); ++step) {
    copy_async_wait<T::kStages - 2>();
    // Now the copies of this stage by all lanes are complete, and all are done with the previous one.
    sync_warp();
    ring.multiply(stage, sum);
    ring.start(step + T::kStages - 1, free);
    free = stage;
    stage = stage + 1 == T::kStages ? 0 : stage + 1;
  }
  __syncthreads();  // from here on the memory of the ring has the sums of slices
  float* const partial = reinterpret_cast<float*>(shared_memory());
  store_slice<T>(sum, partial);
  __syncthreads();
  for (int first = 0; first < W::kElements; first += W::kGroup) {
    if constexpr (!kEarly && !W::kSwiglu)
      if (add != 0) written.read(first, before);
#pragma unroll
    for (int e = 0; e < W::kGroup; ++e) {
      Out* const to = written.place(first + e);
      if (to == nullptr) continue;
      const int row = W::row(first + e), output = W::output(first + e);
      const auto at = static_cast<size_t>(output);
      const float total = scaled<E>(add_slices<T>(partial, row, output), operands.scales, at);
      if constexpr (W::kSwiglu)
        narrow(swiglu(total,
                      scaled<E>(add_slices<T>(partial, row, W::kEach + output), operands.second_scales, at)),
               to);
      else
        *to = add != 0 ? before[e] + total : total;
    }
  }
}

template <class T, class E, class Out>
void run_tile(Stream& stream, const Operands& o, Out* out, size_t ld_out, bool add) {
  constexpr size_t kEach = Written<T, Out>::kEach;
  // The second dimension of a grid has at most 65,535 blocks.
  constexpr size_t kMaxRows = size_t{65535} * T::kRows;
  for (size_t row = 0; row < o.n; row += kMaxRows) {
    Operands part = o;
    part.act += row * o.k;
    part.n = o.n - row < kMaxRows ? o.n - row : kMaxRows;
    launch(stream_kernel<T, E, Out>, dim3(blocks(o.outputs, kEach), blocks(part.n, T::kRows)), kThreads,
           T::kShared, stream, part, out + row * ld_out, ld_out, add ? 1u : 0u);
  }
}

template <size_t Index, class E, class Out>
bool run_if(Stream& stream, const MmaTile& tile, const Operands& operands, Out* out, size_t ld_out,
            bool add) {
  constexpr MmaTile kTile = kStreamTiles[Index];
  if constexpr (std::is_same_v<Out, float> || kTile.outputs >= kSwigluOutputs) {
    if (tile == kTile) {
      run_tile<
          Tile<static_cast<int>(kTile.rows), static_cast<int>(kTile.outputs), static_cast<int>(kTile.stages)>,
          E>(stream, operands, out, ld_out, add);
      return true;
    }
  }
  return false;
}

template <class E, class Out>
void run(Stream& stream, const MmaTile& tile, const Operands& operands, Out* out, size_t ld_out, bool add) {
  const bool found = [&]<size_t... Index>(std::index_sequence<Index...>) {
    return (run_if<Index, E>(stream, tile, operands, out, ld_out, add) || ...);
  }
  (std::make_index_sequence<std::size(kStreamTiles)>());
  if (!found) refuse_tile(tile);
}

const uint16_t* elements(const void* of) {
  return static_cast<const uint16_t*>(of);
}

}  // namespace linear_stream_file

void run_linear_stream(Stream& stream, const LinearCall& c, const MmaTile& tile) {
  const Operands operands{elements(c.act),
                          elements(c.weight),
                          nullptr,
                          c.scales,
                          nullptr,
                          c.n,
                          c.outputs,
                          c.k,
                          static_cast<int>(mma_steps(c.k)),
                          static_cast<int>(mma_slice(c.k))};
  if (c.scales != nullptr)
    run<F16>(stream, tile, operands, c.out, c.ld_out, c.add);
  else
    run<Bf16>(stream, tile, operands, c.out, c.ld_out, c.add);
}

void run_swiglu_stream(Stream& stream, const SwigluCall& c, const MmaTile& tile) {
  const Operands operands{elements(c.act),
                          elements(c.gate),
                          elements(c.up),
                          c.gate_scales,
                          c.up_scales,
                          c.n,
                          c.outputs,
                          c.k,
                          static_cast<int>(mma_steps(c.k)),
                          static_cast<int>(mma_slice(c.k))};
  if (c.gate_scales != nullptr)
    run<F16>(stream, tile, operands, static_cast<F16*>(c.out), c.outputs, false);
  else
    run<Bf16>(stream, tile, operands, static_cast<Bf16*>(c.out), c.outputs, false);
}

}  // namespace carbon::cuda
