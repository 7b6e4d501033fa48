// Products of few rows, computed as products of more. An algorithm of a library may compute a few rows in
// another way than many, with other bits.
#pragma once

#include <functional>
#include <memory>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"

namespace carbon::cuda {

/// The number of rows that fewer are filled up to: the rows of the library's usual tile.
inline constexpr size_t kPaddedRows = 128;

class RowPadding {
 public:
  explicit RowPadding(std::shared_ptr<const Device> device);
  /// Calls `multiply` for a product of kPaddedRows rows. The first ones are those of `call`, which has fewer,
  /// the others are zeros. Then copies the results of the first ones to where `call` wants them.
  void run(const Matmul::Call& call, const std::function<void(const Matmul::Call&)>& multiply);

 private:
  std::shared_ptr<const Device> device_;
  Scratch act_, out_;
};

}  // namespace carbon::cuda
