// bench/gpu/wgmma.cuh for a CPU: the same functions, run by test/cuda_emulation/wgmma.cpp.
#pragma once

#include <cstdint>

namespace carbon::gpu_bench {

uint64_t describe_factor(const void* shared, uint32_t next_columns, uint32_t next_rows);
inline void show_to_wgmma() {}
inline void begin_wgmma() {}
inline void end_wgmma() {}
void wgmma(float sum[1][4], uint64_t left, uint64_t right);
void wgmma_64(float sum[8][4], uint64_t left, uint64_t right);
void wgmma_64(float sum[8][4], const uint32_t left[4], uint64_t right);

}  // namespace carbon::gpu_bench
