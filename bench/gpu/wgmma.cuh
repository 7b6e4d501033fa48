// The instructions of sm_90a that multiply matrices in shared memory, for four warps together. A file of the
// same name in test/cuda_emulation has the same functions for a CPU, as kernels/cuda/instructions.cuh has.
//
// Both factors have 16 columns here. In shared memory they consist of matrices of eight rows and eight
// columns, 128 bytes one after the other ("core matrices" in the PTX manual; no swizzling). Rows of the right
// factor are outputs. A warp has 16 rows of the result: sum[j] of a lane are its numbers of the outputs from
// 8 j on, as c of mma.m16n8k16 (kernels/cuda/instructions.cuh), and left factors in registers are as its a.
#pragma once

#include <cstdint>

namespace carbon::gpu_bench {

/// Where a factor is: its matrices of the next eight columns and of the next eight rows begin so many bytes
/// after one another.
__device__ inline uint64_t describe_factor(const void* shared, uint32_t next_columns, uint32_t next_rows) {
  const auto units = [](uint32_t bytes) { return uint64_t{(bytes & 0x3ffffu) >> 4}; };
  return units(static_cast<uint32_t>(__cvta_generic_to_shared(shared))) | units(next_columns) << 16 |
         units(next_rows) << 32;
}

// The kernel is also compiled for kinds that lack these, where it is not launched.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// What this thread has written to shared memory comes before what these instructions read after a barrier.
__device__ inline void show_to_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void begin_wgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
/// Waits until all products have been added.
__device__ inline void end_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define CARBON_SUM(j) "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
#define CARBON_SUMS                                                                                        \
  CARBON_SUM(0), CARBON_SUM(1), CARBON_SUM(2), CARBON_SUM(3), CARBON_SUM(4), CARBON_SUM(5), CARBON_SUM(6), \
      CARBON_SUM(7)
#define CARBON_64                                                                                   \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "  \
  "%10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, " \
  "%29, %30, %31}, "

/// sum += left . right, for 8 outputs.
__device__ inline void wgmma(float sum[1][4], uint64_t left, uint64_t right) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : CARBON_SUM(0)
               : "l"(left), "l"(right));
}
/// The same for 64 outputs.
__device__ inline void wgmma_64(float sum[8][4], uint64_t left, uint64_t right) {
  asm volatile(CARBON_64 "%32, %33, 1, 1, 1, 0, 0;" : CARBON_SUMS : "l"(left), "l"(right));
}
__device__ inline void wgmma_64(float sum[8][4], const uint32_t left[4], uint64_t right) {
  asm volatile(CARBON_64 "{%32, %33, %34, %35}, %36, 1, 1, 1, 0;"
               : CARBON_SUMS
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right));
}

#undef CARBON_64
#undef CARBON_SUMS
#undef CARBON_SUM

#else

__device__ inline void show_to_wgmma() {}
__device__ inline void begin_wgmma() {}
__device__ inline void end_wgmma() {}
__device__ inline void wgmma(float (*)[4], uint64_t, uint64_t) {
  __trap();
}
__device__ inline void wgmma_64(float (*)[4], uint64_t, uint64_t) {
  __trap();
}
__device__ inline void wgmma_64(float (*)[4], const uint32_t*, uint64_t) {
  __trap();
}

#endif

}  // namespace carbon::gpu_bench
