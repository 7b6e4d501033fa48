// The machine instructions that C++ cannot express, each as an inline function.
//
// Apart from these, kernels use only threadIdx, blockIdx, gridDim and __syncthreads(). test/cuda_emulation
// has a file of the same name with the same functions for a CPU, written from the tables of fragments in the
// PTX manual, so that the kernels can be run and checked without a device.
//
// Fragments of mma.m16n8k16 (PTX manual, "Matrix Fragments for mma.m16n8k16"), with g = lane / 4, t = lane %
// 4, and two bf16 or f16 in a register, the first in the lower half:
//   a[0] row g,     columns 2t, 2t + 1      a[1] row g + 8, the same columns
//   a[2] row g,     columns 2t + 8, + 9     a[3] row g + 8, the same columns
//   b[0] column g,  rows 2t, 2t + 1         b[1] column g,  rows 2t + 8, + 9
//   c[0], c[1] row g, columns 2t, 2t + 1    c[2], c[3] row g + 8, the same columns
// Those of mma.m16n8k8, which sm_75 has instead, are a[0], a[1] and b[0]: so a[2], a[3] and b[1] are the
// fragments of another one, of the last eight columns.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace carbon::cuda {

inline constexpr int kWarp = 32;

__device__ inline uint32_t float_bits(float x) {
  return __float_as_uint(x);
}
__device__ inline float bits_float(uint32_t x) {
  return __uint_as_float(x);
}

/// Every kernel begins with this. The blocks of a kernel may start while the previous kernel on the stream
/// still runs (stream.hpp). `start_next_kernel` allows the next kernel to start, after all blocks of this one
/// have called it. Before `wait_for_last_kernel` a thread must not read anything that a kernel has written,
/// and must not write. Since every kernel waits for the previous one, all earlier kernels have ended after
/// the wait.
__device__ inline void start_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void wait_for_last_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void begin_kernel() {
  start_next_kernel();
  wait_for_last_kernel();
}

/// 2^x with a relative error of up to 2^-22. Exactly 1 at 0, and 0 below -126; NaN stays NaN. The last bits
/// depend on the kind of device.
__device__ inline float exp2_approximate(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// Requests that the memory around `from` is read into the L2 cache.
__device__ inline void prefetch(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/// The dynamic shared memory of the block, aligned to 16 bytes.
__device__ inline unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char carbon_shared[];
  return carbon_shared;
}

/// Counts one of `n` arrivals of threads of different blocks. Returns true for the last one, which sets the
/// counter to 0 again. Everything that a thread wrote before it arrived, or that other threads of its block
/// wrote before an earlier barrier, is visible to the last thread, and after another barrier to all threads
/// of its block.
__device__ inline bool arrive(uint32_t* counter, uint32_t n) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(n - 1) : "memory");
  return before == n - 1;
}

/// All lanes of the warp meet. What they did to shared memory before comes before what they do after.
__device__ inline void sync_warp() {
  __syncwarp();
}

/// The value of lane (lane ^ mask). All lanes of a warp must call this together.
template <class T>
__device__ inline T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}

// bf16 on tensor cores and asynchronous copies need sm_80. sm_75 has f16 on tensor cores, and copies at once.
// The backend does not launch kernels with what a device lacks; the code for it has a trap in its place.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// Rounds two floats to bf16, to nearest even; `low` becomes the lower half.
__device__ inline uint32_t pack_bf16(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// c += a . b, where a is 16 x 16 and b is 16 x 8 of bf16, and c is f32.
__device__ inline void mma_bf16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// The same for f16, which has subnormal numbers. What is too large becomes infinite.
__device__ inline uint32_t pack_f16(float low, float high) {
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
__device__ inline void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Programs that only measure (mk/cuda.mk) ask for more bytes to be read into the L2 cache with each copy.
#ifndef CARBON_L2_HINT
#define CARBON_L2_HINT ""
#endif

/// Starts a copy of 16 bytes to shared memory. If `valid` is false, it writes zeros and does not read `from`.
__device__ inline void copy_async(void* to, const void* from, bool valid) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global" CARBON_L2_HINT " [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}
/// Ends a group of copies; a group may be empty.
__device__ inline void copy_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `Pending` groups of this thread are unfinished. The copies of the others are visible
/// to other threads after a barrier.
template <int Pending>
__device__ inline void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

#else

__device__ inline uint32_t pack_bf16(float low, float high) {
  const auto half = [](float v) {
    const uint32_t u = float_bits(v);
    if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  };
  return half(low) | (half(high) << 16);
}
__device__ inline void mma_bf16(float*, const uint32_t*, uint32_t, uint32_t) {
  __trap();
}

__device__ inline uint32_t pack_f16(float low, float high) {
  uint32_t result;
  asm("{ .reg .b16 low, high; cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2; mov.b32 %0, {low, high}; }"
      : "=r"(result)
      : "f"(low), "f"(high));
  return result;
}
__device__ inline void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 750
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%8}, {%0, %1, %2, %3};"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%6, %7}, {%9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}

__device__ inline void copy_async(void* to, const void* from, bool valid) {
  *static_cast<uint4*>(to) = valid ? *static_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
}
__device__ inline void copy_async_commit() {}
template <int Pending>
__device__ inline void copy_async_wait() {}

#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750

/// Reads four 8 x 8 matrices of 16-bit elements from shared memory. Lane 8 i + j passes the address of row j
/// of matrix i; out[i] becomes the elements of row lane / 4 in column 2 (lane % 4) and the next one.
__device__ inline void load_matrices(uint32_t out[4], const void* row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

/// The same with transposed matrices: out[i] becomes the elements of column lane / 4 in row 2 (lane % 4) and
/// the next one.
__device__ inline void load_matrices_transposed(uint32_t out[4], const void* row) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
}

#else

__device__ inline void load_matrices(uint32_t*, const void*) {
  __trap();
}
__device__ inline void load_matrices_transposed(uint32_t*, const void*) {
  __trap();
}

#endif

}  // namespace carbon::cuda
