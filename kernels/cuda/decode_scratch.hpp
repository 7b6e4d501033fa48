// Memory in which the blocks of attention_decode.cu store their parts of a row for the block that combines
// them.
#pragma once

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {

class DecodeScratch {
 public:
  explicit DecodeScratch(const std::shared_ptr<const Device>& device);
  /// Returns memory for at least `slots` slots (null pointers for 0). The addresses stay the same until a
  /// larger number than ever before is requested, or one with another next power of two.
  DecodeParts ensure(size_t slots, size_t head_dim);

 private:
  std::shared_ptr<const Device> device_;
  Scratch floats_, counters_;
  size_t counted_ = 0;  // slots that have counters
};

}  // namespace carbon::cuda
