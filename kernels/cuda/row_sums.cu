// The final norm of states in double, and sums of rows: what is read off the residual stream for embeddings.
//
// A thread adds what one row, or one column of several rows, has in the order in which the CPU does. So all
// bits are those of the CPU, where multiply-adds are not fused either.
#include <cmath>

#include "kernels/cuda/device_math.cuh"
#include "kernels/cuda/kernels.hpp"
#include "kernels/cuda/launch.hpp"

namespace carbon::cuda {
inline namespace row_sums_file {

constexpr int kWide = 4;         // elements of a group, if the width is a multiple of it
constexpr int kGroups = 8;       // groups, or rows, that a thread requests at a time
constexpr int kRowThreads = 32;  // few, so that the rows of a pass are on all multiprocessors
constexpr int kThreads = 128;

template <int Count>
__global__ void __launch_bounds__(kRowThreads)
    scale_kernel(const float* x, float eps, uint32_t n, uint32_t width, double* scale) {
  begin_kernel();
  const uint32_t row = blockIdx.x * kRowThreads + threadIdx.x;
  if (row >= n) return;
  const float* const from = x + size_t{row} * width;
  double squares = 0;
  const auto add = [&](const Group<float, Count>& group) {
#pragma unroll
    for (int e = 0; e < Count; ++e)
      squares += static_cast<double>(group.element[e]) * static_cast<double>(group.element[e]);
  };
  uint32_t j = 0;
  for (; j + kGroups * Count <= width; j += kGroups * Count) {
    Group<float, Count> groups[kGroups];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) groups[k] = load_group<Count>(from + j + k * Count);
#pragma unroll
    for (int k = 0; k < kGroups; ++k) add(groups[k]);
  }
  for (; j < width; j += Count) add(load_group<Count>(from + j));
  scale[row] = 1 / sqrt(squares / static_cast<double>(width) + static_cast<double>(eps));
}

/// An element of a row after the norm.
__device__ inline float normed(float x, double scale, double weight) {
  return static_cast<float>(static_cast<double>(x) * scale * weight);
}

__global__ void __launch_bounds__(kThreads)
    scale_rows_kernel(const float* x, const double* scale, const float* weight, uint32_t width, float* out) {
  begin_kernel();
  const size_t at = size_t{blockIdx.x} * width;
  const double mine = scale[blockIdx.x];
  for (uint32_t j = threadIdx.x; j < width; j += kThreads)
    out[at + j] = normed(x[at + j], mine, static_cast<double>(weight[j]));
}

/// A thread has a column of the rows of a place.
template <bool Norm>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const float* x, const double* scale, const float* weight, uint32_t width,
               const RowSumPlace* places, const uint32_t* counts, double* sums) {
  begin_kernel();
  const uint32_t column = blockIdx.y * kThreads + threadIdx.x;
  if (column >= width) return;
  const RowSumPlace place = places[blockIdx.x];
  const double factor = Norm ? static_cast<double>(weight[column]) : 0;
  const float* values = x + size_t{place.first_row} * width + column;
  if (Norm) scale += place.first_row;
  sums += size_t{place.sums_at} * width + column;
  double sum = *sums;
  uint32_t row = 0;
  for (uint32_t i = 0; i < place.count; ++i) {
    const uint32_t end = counts[place.counts_at + i];
#pragma unroll kGroups
    for (; row < end; ++row) {
      const float value = values[size_t{row} * width];
      sum += static_cast<double>(Norm ? normed(value, scale[row], factor) : value);
    }
    sums += width;
    *sums = sum;
  }
}

template <int Count>
void run_scales_by(Stream& stream, const float* x, float eps, size_t n, size_t width, double* scale) {
  launch(scale_kernel<Count>, dim3(blocks(n, kRowThreads)), kRowThreads, 0, stream, x, eps,
         static_cast<uint32_t>(n), static_cast<uint32_t>(width), scale);
}

}  // namespace row_sums_file

void run_norm_scales(Stream& stream, const float* x, float eps, size_t n, size_t width, double* scale) {
  if (width % kWide == 0)
    run_scales_by<kWide>(stream, x, eps, n, width, scale);
  else
    run_scales_by<1>(stream, x, eps, n, width, scale);
}

void run_scale_rows(Stream& stream, const float* x, const double* scale, const float* weight, size_t n,
                    size_t width, float* out) {
  launch(scale_rows_kernel, dim3(static_cast<unsigned>(n)), kThreads, 0, stream, x, scale, weight,
         static_cast<uint32_t>(width), out);
}

void run_sum_rows(Stream& stream, const float* x, const double* scale, const float* weight, size_t width,
                  const RowSumPlace* rows, const uint32_t* counts, size_t n, double* sums) {
  launch(scale == nullptr ? sum_kernel<false> : sum_kernel<true>,
         dim3(static_cast<unsigned>(n), blocks(width, kThreads)), kThreads, 0, stream, x, scale, weight,
         static_cast<uint32_t>(width), rows, counts, sums);
}

}  // namespace carbon::cuda
