// The time of a barrier of a whole grid (chains.hpp).
#include "bench/gpu/chains.hpp"

namespace carbon::gpu_bench {

#ifdef CARBON_CUDA_EMULATION
float barrier_microseconds(cudaStream_t, unsigned, uint32_t*) {
  return -1;  // blocks run one after the other
}
#else
__global__ void __launch_bounds__(kBarrierThreads) run_barriers(uint32_t* arrived, uint32_t rounds) {
  for (uint32_t round = 1; round <= rounds; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      for (uint32_t seen = 0; seen < round * gridDim.x;)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    }
    __syncthreads();
  }
}

float barrier_microseconds(cudaStream_t stream, unsigned blocks, uint32_t* counter) {
  uint32_t rounds = 1000;
  void* arguments[] = {&counter, &rounds};
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  float milliseconds = -1;
  for (int run = 0; run < 2; ++run) {  // the first does not count
    cudaMemsetAsync(counter, 0, sizeof *counter, stream);
    cudaEventRecord(begin, stream);
    cudaLaunchCooperativeKernel(run_barriers, blocks, kBarrierThreads, arguments, 0, stream);
    cudaEventRecord(end, stream);
    if (cudaGetLastError() != cudaSuccess || cudaEventSynchronize(end) != cudaSuccess) return -1;
    cudaEventElapsedTime(&milliseconds, begin, end);
  }
  return 1e3f * milliseconds / static_cast<float>(rounds);
}
#endif

}  // namespace carbon::gpu_bench
