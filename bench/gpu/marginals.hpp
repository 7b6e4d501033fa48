// What the backends make of the same tokens, for bench/gpu/parity.py.
#pragma once

#include <string>

namespace carbon::gpu_bench {

/// Runs random 6-mers through the model in the folder `checkpoint` on the CPU in f32, and on GPU `device` in
/// bf16, by the library and by the own kernels, and in f16. Writes into `folder`: tokens (uint32), and of
/// each way its marginals (double, [tokens, 6, 4]) as cpu_f32, gpu_library, gpu_own and gpu_f16.
void write_marginals(const std::string& checkpoint, int device, const std::string& folder);

}  // namespace carbon::gpu_bench
