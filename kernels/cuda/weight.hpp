// A weight as the CUDA backend keeps it, and the choice of who multiplies with it.
#pragma once

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

class CudaWeight final : public ops::Weight {
 public:
  /// Fixed for a weight and a class of rows, whatever their number: each has a reduction order of its own.
  enum class Product { plain, mma, library };

  /// Copies the matrix to the device: in bf16 mode rounded to bf16, in f32 mode as it is. Without
  /// `tensor_cores` the product is plain; `library` may be null.
  CudaWeight(const std::shared_ptr<const Device>& device, const TensorView& matrix, DType act_type,
             bool tensor_cores, Matmul* library);

  const void* data() const { return data_.get(); }
  DType type() const { return type_; }
  /// The library's products belong to the prefill class alone: its algorithm for thousands of rows reads the
  /// weights for one at a fraction of the memory's rate, and another one would have other bits.
  Product product(ops::RowClass row_class) const {
    return product_ == Product::library && row_class == ops::RowClass::decode ? Product::mma : product_;
  }

 private:
  Memory data_;
  DType type_;
  Product product_ = Product::plain;  // of the prefill class
};

}  // namespace carbon::cuda
