// Products of some rows, computed as products of more. An algorithm of a library may not support a number of
// rows, or compute few rows in another way than many, with other bits.
#pragma once

#include <functional>
#include <memory>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul_call.hpp"

namespace carbon::cuda {

/// Numbers of rows are filled up to multiples of this: the rows of a library's usual tile.
inline constexpr size_t kPaddingStep = 128;

class RowPadding {
 public:
  explicit RowPadding(std::shared_ptr<const Device> device);
  /// Calls `multiply` for a product of `rows` rows: first those of `call`, which has fewer, then zeros. Then
  /// copies the results of the first ones to where `call` wants them. Returns false, and writes nothing to
  /// the results, if `multiply` does.
  bool run(const MatmulCall& call, size_t rows, const std::function<bool(const MatmulCall&)>& multiply);

 private:
  std::shared_ptr<const Device> device_;
  Scratch act_, out_;
};

}  // namespace carbon::cuda
