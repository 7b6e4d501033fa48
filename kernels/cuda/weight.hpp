// A weight as the CUDA backend keeps it, and the choice of who multiplies with it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

class CudaWeight final : public ops::Weight {
 public:
  /// Fixed for a weight and a class of rows, whatever their number: each has a reduction order of its own.
  enum class Product { plain, mma, library };

  /// Copies the matrices, of `rows` outputs together, to the device, one behind the other: in bf16 mode
  /// rounded to bf16, in f32 mode as they are, or as f32 if their types differ. Without `tensor_cores` the
  /// product is plain; `library` may be null.
  CudaWeight(const std::shared_ptr<const Device>& device, std::span<const TensorView> matrices, size_t rows,
             DType act_type, bool tensor_cores, Matmul* library);
  /// Matrices [first, first + count) of `whole`, in its memory.
  CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library);

  const void* data() const { return data_; }
  size_t matrices() const { return starts_.size() - 1; }
  DType type() const { return type_; }
  /// The library's products belong to the prefill class alone: its algorithm for thousands of rows reads the
  /// weights for one at a fraction of the memory's rate, and another one would have other bits.
  Product product(ops::RowClass row_class) const {
    return product_ == Product::library && row_class == ops::RowClass::decode ? Product::mma : product_;
  }

 private:
  /// Of the prefill class, on tensor cores.
  Product mma_or(Matmul* library) const;

  std::shared_ptr<const Memory> memory_;
  const void* data_;               // in it
  std::vector<size_t> starts_{0};  // first output of each matrix, and rows()
  DType type_;
  Product product_ = Product::plain;  // of the prefill class
};

}  // namespace carbon::cuda
