// kernels/cuda/instructions.cuh for a CPU: the same functions, run by test/cuda_emulation/instructions.cpp.
// The build for the emulation finds this file first.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>

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

float exp2_approximate(float x);

inline void prefetch(const void* from) {
  emulation::touch(from);
}

inline unsigned char* shared_memory() {
  return emulation::shared_memory();
}

inline bool arrive(uint32_t* counter, uint32_t n) {
  return emulation::arrive(counter, n);
}

inline void sync_warp() {
  emulation::sync_warp();
}

/// Every lane's value, of `bytes`, becomes that of lane (lane ^ mask).
void exchange_xor(void* value, size_t bytes, int mask);

template <class T>
T shuffle_xor(T value, int mask) {
  exchange_xor(&value, sizeof value, mask);
  return value;
}

uint32_t pack_bf16(float low, float high);
void mma_bf16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
uint32_t pack_f16(float low, float high);
void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
void load_matrices(uint32_t out[4], const void* row);
void load_matrices_transposed(uint32_t out[4], const void* row);

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
