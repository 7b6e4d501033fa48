// What a test of products on the device needs: numbers, and a comparison to the bit.
#pragma once

#include "kernels/cuda/device.hpp"

namespace carbon::cuda {

/// n bf16 in [-1, 1), the same ones every time.
void fill_random(const Device& device, void* to, size_t n);
/// Whether so many bytes, a multiple of 4, differ in any bit. Waits for the device.
bool differ(const std::shared_ptr<const Device>& device, const void* a, const void* b, size_t bytes);

}  // namespace carbon::cuda
