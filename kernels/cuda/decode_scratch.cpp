#include "kernels/cuda/decode_scratch.hpp"

#include <bit>

namespace carbon::cuda {

DecodeScratch::DecodeScratch(const std::shared_ptr<const Device>& device)
    : device_(device), floats_(device, "parts of attention"), counters_(device, "parts of attention") {}

DecodeParts DecodeScratch::ensure(size_t slots, size_t head_dim) {
  if (slots == 0) return {};
  slots = std::bit_ceil(slots);
  const size_t rows = slots * kDecodeRows;
  auto* const out = floats_.ensure_array<float>(rows * (head_dim + 4));
  if (slots > counted_) {
    counted_ = 0;  // in case the next lines throw
    auto* const counters = counters_.ensure_array<uint32_t>(2 * slots);
    device_->clear(counters, 2 * slots * sizeof(uint32_t));
    counted_ = slots;
  }
  float* const largest = out + rows * head_dim;
  return {out, largest, largest + 2 * rows, counters_.ensure_array<uint32_t>(2 * slots), slots};
}

}  // namespace carbon::cuda
