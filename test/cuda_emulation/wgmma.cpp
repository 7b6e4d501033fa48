// wgmma on a CPU, from the PTX manual's description of matrices in shared memory. Products are summed in
// double and rounded once, as those of mma.sync. This file's own accesses to memory are not watched: it says
// itself what an instruction reads.
#include "bench/gpu/wgmma.cuh"

#include <vector>

#include "kernels/tensor.hpp"
#include "test/cuda_emulation/emulation.hpp"

namespace carbon::gpu_bench {
namespace {

/// The 16 columns of a row of the factor.
std::vector<double> factor_row(uint64_t factor, size_t row) {
  const auto bytes = [&](int bit) { return static_cast<size_t>(factor >> bit & 0x3fff) << 4; };
  std::vector<double> numbers;
  for (size_t half = 0; half < 2; ++half) {
    const unsigned char* const line =
        emulation::shared_memory() + bytes(0) + half * bytes(16) + row / 8 * bytes(32) + row % 8 * 16;
    emulation::read_shared(line, 16, 16);
    for (size_t i = 0; i < 8; ++i)
      numbers.push_back(static_cast<double>(to_float(reinterpret_cast<const bf16*>(line)[i])));
  }
  return numbers;
}

/// sum += rows . right, for the lane's rows, lane / 4 and the eighth after it, of its warp.
void add_products(float (*sum)[4], size_t outputs, const std::vector<double> (&rows)[2], uint64_t right) {
  for (size_t j = 0; j < outputs / 8; ++j)
    for (size_t e = 0; e < 4; ++e) {
      const std::vector<double> column = factor_row(right, j * 8 + emulation::lane() % 4 * 2 + e % 2);
      double total = static_cast<double>(sum[j][e]);
      for (size_t i = 0; i < 16; ++i) total += rows[e / 2][i] * column[i];
      sum[j][e] = static_cast<float>(total);
    }
}
void add_products(float (*sum)[4], size_t outputs, uint64_t left, uint64_t right) {
  const size_t row = threadIdx.x / emulation::kLanes * 16 + emulation::lane() / 4;
  add_products(sum, outputs, {factor_row(left, row), factor_row(left, row + 8)}, right);
}

}  // namespace

uint64_t describe_factor(const void* shared, uint32_t next_columns, uint32_t next_rows) {
  const auto at = static_cast<const unsigned char*>(shared) - emulation::shared_memory();
  return static_cast<uint64_t>(at >> 4) | uint64_t{next_columns >> 4} << 16 | uint64_t{next_rows >> 4} << 32;
}

void wgmma(float sum[1][4], uint64_t left, uint64_t right) {
  add_products(sum, 8, left, right);
}
void wgmma_64(float sum[8][4], uint64_t left, uint64_t right) {
  add_products(sum, 64, left, right);
}
void wgmma_64(float sum[8][4], const uint32_t left[4], uint64_t right) {
  const emulation::Operands* const all =
      emulation::meet("wgmma", {{left[0], left[1], left[2], left[3]}, nullptr});
  std::vector<double> rows[2];
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < 16; ++k) {
      const uint32_t word = all[emulation::lane() / 4 * 4 + k % 8 / 2].word[i + k / 8 * 2];
      rows[i].push_back(static_cast<double>(to_float(bf16{static_cast<uint16_t>(word >> (16 * (k % 2)))})));
    }
  add_products(sum, 64, rows, right);
}

}  // namespace carbon::gpu_bench
