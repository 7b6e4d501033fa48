// What a test of products on the device needs: numbers, and a comparison to the bit.
#pragma once

#include "kernels/cuda/device.hpp"

namespace carbon::cuda {

/// n bf16 in [-1, 1), the same ones every time.
void fill_random(const Device& device, void* to, size_t n);
/// Whether the n floats differ in any bit. Waits for the device.
bool differ(const std::shared_ptr<const Device>& device, const float* a, const float* b, size_t n);

}  // namespace carbon::cuda
