// What the device can do, measured in the run that is compared with it.
#pragma once

#include <memory>

#include "kernels/cuda/device.hpp"

namespace carbon::gpu_bench {

/// How long and on what sizes to measure.
struct Effort {
  double seconds;      // of each measurement, at least
  size_t repeats;      // runs of each, at least
  size_t copy_bytes;   // several times the device's cache
  size_t matrix_size;  // rows and columns of a square product
};

/// Bytes a second, read and written ones added, of a copy from device memory to device memory.
double copy_bandwidth(const std::shared_ptr<const cuda::Device>& device, const Effort& effort);
/// Operations a second of a bf16 matrix product (2 n^3 each) in the best way that is at hand, without regard
/// to the order of its sums. Random numbers: zeros can run faster.
double matrix_rate(const std::shared_ptr<const cuda::Device>& device, const Effort& effort);

}  // namespace carbon::gpu_bench
