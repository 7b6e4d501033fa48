// Memory in which the blocks of attention_decode.cu leave their parts of a row for the one that combines
// them.
#pragma once

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {

class DecodeScratch {
 public:
  explicit DecodeScratch(const std::shared_ptr<const Device>& device);
  /// For `slots` slots at least, nothing for none; where it lies changes only when more are asked for than
  /// ever before, or another number of them up to the next power of two.
  DecodeParts ensure(size_t slots, size_t head_dim);

 private:
  std::shared_ptr<const Device> device_;
  Scratch floats_, counters_;
  size_t counted_ = 0;  // slots that have counters
};

}  // namespace carbon::cuda
