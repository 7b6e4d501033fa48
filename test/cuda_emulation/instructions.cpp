// The machine's instructions, written from the PTX manual's tables of fragments. This file's own accesses to
// memory are not watched: it says itself what an instruction reads.
#include "kernels/cuda/instructions.cuh"

#include <cmath>
#include <cstring>

#include "kernels/tensor.hpp"

namespace carbon::cuda {
namespace {

double bf16_of(uint16_t bits) {
  return static_cast<double>(to_float(bf16{bits}));
}
double f16_of(uint16_t bits) {
  return static_cast<double>(half_to_float(bits));
}

/// mma.m16n8k16; `number` makes a number of 16 bits.
void multiply(const char* instruction, double (*number)(uint16_t), float c[4], const uint32_t a[4],
              uint32_t b0, uint32_t b1) {
  const emulation::Operands* const all =
      emulation::meet(instruction, {{a[0], a[1], a[2], a[3], b0, b1}, nullptr});
  const size_t group = emulation::lane() / 4, pair = emulation::lane() % 4 * 2;
  const auto half_of = [&](uint32_t word, size_t which) {
    return number(static_cast<uint16_t>(word >> (16 * which)));
  };
  // This lane's rows of a, group and group + 8, and its columns of b, pair and pair + 1. Element (row, k) of
  // a: lane 4 (row % 8) + (k % 8) / 2, register row / 8 + 2 (k / 8), half k % 2; element (k, column) of b:
  // lane 4 column + (k % 8) / 2, register k / 8, half k % 2.
  double rows[2][16], columns[2][16];
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < 16; ++k) {
      rows[i][k] = half_of(all[group * 4 + k % 8 / 2].word[i + k / 8 * 2], k % 2);
      columns[i][k] = half_of(all[(pair + i) * 4 + k % 8 / 2].word[4 + k / 8], k % 2);
    }
  for (size_t e = 0; e < 4; ++e) {
    double sum = static_cast<double>(c[e]);
    for (size_t k = 0; k < 16; ++k) sum += rows[e / 2][k] * columns[e % 2][k];
    c[e] = static_cast<float>(sum);
  }
}

void load_matrices_either(uint32_t out[4], const void* row, bool transposed) {
  emulation::read_shared(row, 16, 16);
  emulation::Operands mine{};
  mine.address = row;
  const emulation::Operands* const all =
      emulation::meet(transposed ? "ldmatrix.x4.trans" : "ldmatrix.x4", mine);
  const size_t slow = emulation::lane() / 4, fast = emulation::lane() % 4 * 2;
  for (size_t i = 0; i < 4; ++i) {
    uint16_t half[2];
    for (size_t e = 0; e < 2; ++e) {
      const size_t r = transposed ? fast + e : slow, c = transposed ? slow : fast + e;
      std::memcpy(&half[e], static_cast<const char*>(all[i * 8 + r].address) + 2 * c, 2);
    }
    out[i] = half[0] | (uint32_t{half[1]} << 16);
  }
}

}  // namespace

float exp2_approximate(float x) {
  const float result = static_cast<float>(std::exp2(static_cast<double>(x)));
  return result < 0x1p-126f ? 0.0f : result;
}

void exchange_xor(void* value, size_t bytes, int mask) {
  emulation::Operands mine{};
  std::memcpy(mine.word, value, bytes);
  const emulation::Operands* const all = emulation::meet("shfl.xor", mine);
  std::memcpy(value, all[emulation::lane() ^ static_cast<size_t>(mask)].word, bytes);
}

uint32_t pack_bf16(float low, float high) {
  // A NaN becomes the one that the instruction gives.
  const auto half = [](float v) { return std::isnan(v) ? 0x7fffu : uint32_t{to_bf16(v).bits}; };
  return half(low) | (half(high) << 16);
}

void mma_bf16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  multiply("mma.m16n8k16 of bf16", bf16_of, c, a, b0, b1);
}

uint32_t pack_f16(float low, float high) {
  // As for bf16.
  const auto half = [](float v) { return std::isnan(v) ? 0x7fffu : uint32_t{float_to_half(v)}; };
  return half(low) | (half(high) << 16);
}

void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  multiply("mma.m16n8k16 of f16", f16_of, c, a, b0, b1);
}

void load_matrices(uint32_t out[4], const void* row) {
  load_matrices_either(out, row, false);
}
void load_matrices_transposed(uint32_t out[4], const void* row) {
  load_matrices_either(out, row, true);
}

}  // namespace carbon::cuda
