// What a test of products on the device needs: numbers, and a comparison of bits.
#pragma once

#include "kernels/cuda/device.hpp"

namespace carbon::cuda {

/// Fills n bf16 with numbers in [-1, 1), always the same.
void fill_random(const Device& device, void* to, size_t n);
/// True if any bit differs. The number of bytes is a multiple of 4. Waits for the device.
bool differ(const std::shared_ptr<const Device>& device, const void* a, const void* b, size_t bytes);

}  // namespace carbon::cuda
