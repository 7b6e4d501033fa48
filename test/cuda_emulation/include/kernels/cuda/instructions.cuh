// kernels/cuda/instructions.cuh for a CPU: the same functions, written from the PTX manual's tables, run by
// test/cuda_emulation. The build for the emulation finds this file first.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/tensor.hpp"

namespace carbon::cuda {

inline constexpr int kWarp = 32;

inline uint32_t float_bits(float x) {
  return std::bit_cast<uint32_t>(x);
}
inline float bits_float(uint32_t x) {
  return std::bit_cast<float>(x);
}

inline void start_next_kernel() {}
inline void wait_for_last_kernel() {
  emulation::wait_for_last_kernel();
}
inline void begin_kernel() {
  start_next_kernel();
  wait_for_last_kernel();
}

inline float exp2_nonpositive(float x) {
  const float result = static_cast<float>(std::exp2(static_cast<double>(x)));
  return result < 0x1p-126f ? 0.0f : result;
}

inline void prefetch(const void* from) {
  emulation::touch(from);
}

inline unsigned char* shared_memory() {
  return emulation::shared_memory();
}

inline void load_words(uint32_t out[4], const void* from) {
  emulation::access(from, 16, 16);
  std::memcpy(out, from, 16);
}

// Blocks run one after the other.
inline bool arrive(uint32_t* counter, uint32_t n) {
  const bool last = *counter >= n - 1;
  *counter = last ? 0 : *counter + 1;
  return last;
}

template <class T>
T shuffle_xor(T value, int mask) {
  static_assert(sizeof(T) <= sizeof(emulation::Operands::word));
  emulation::Operands mine{};
  std::memcpy(mine.word, &value, sizeof value);
  const emulation::Operands* const all = emulation::meet("shfl.xor", mine);
  std::memcpy(&value, all[emulation::lane() ^ static_cast<size_t>(mask)].word, sizeof value);
  return value;
}

inline uint32_t pack_bf16(float low, float high) {
  // A NaN becomes the one that the instruction gives.
  const auto half = [](float v) { return std::isnan(v) ? 0x7fffu : uint32_t{to_bf16(v).bits}; };
  return half(low) | (half(high) << 16);
}

inline double half_of(uint32_t word, size_t which) {
  return static_cast<double>(to_float(bf16{static_cast<uint16_t>(word >> (16 * which))}));
}

inline void mma_bf16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  const emulation::Operands* const all =
      emulation::meet("mma.m16n8k16", {{a[0], a[1], a[2], a[3], b0, b1}, nullptr});
  const size_t group = emulation::lane() / 4, pair = emulation::lane() % 4 * 2;
  for (size_t e = 0; e < 4; ++e) {
    const size_t row = group + e / 2 * 8, column = pair + e % 2;
    double sum = static_cast<double>(c[e]);
    for (size_t k = 0; k < 16; ++k) {
      // Element (row, k) of a: lane 4 (row % 8) + (k % 8) / 2, register row / 8 + 2 (k / 8), half k % 2;
      // element (k, column) of b: lane 4 column + (k % 8) / 2, register k / 8, half k % 2.
      const double x = half_of(all[row % 8 * 4 + k % 8 / 2].word[row / 8 + k / 8 * 2], k % 2);
      const double y = half_of(all[column * 4 + k % 8 / 2].word[4 + k / 8], k % 2);
      sum += x * y;
    }
    c[e] = static_cast<float>(sum);
  }
}

inline void load_matrices_either(uint32_t out[4], const void* row, bool transposed) {
  emulation::access(row, 16, 16);
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
inline void load_matrices(uint32_t out[4], const void* row) {
  load_matrices_either(out, row, false);
}
inline void load_matrices_transposed(uint32_t out[4], const void* row) {
  load_matrices_either(out, row, true);
}

inline void copy_async(void* to, const void* from, bool valid) {
  emulation::copy_async(to, from, valid);
}
inline void copy_async_commit() {
  emulation::copy_async_commit();
}
template <int Pending>
void copy_async_wait() {
  emulation::copy_async_wait(Pending);
}

}  // namespace carbon::cuda
