// A weight of the CUDA backend, and the choice of the kernels that multiply with it.
#pragma once

#include <array>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

class CudaWeight final : public ops::Weight {
 public:
  /// Who computes products. Each has a different order of sums, so the choice is fixed for a weight and a
  /// class of rows, and does not depend on the number of rows.
  enum class Product { plain, mma, library };

  /// Copies the matrices, which have `rows` outputs together, to the device, one after the other. If
  /// activations are bf16 the matrices are rounded to bf16; if they are f32 the matrices keep their type, or
  /// become f32 if their types differ or have blocks. Without `tensor_cores` the product is plain; `library`
  /// may be null.
  CudaWeight(const std::shared_ptr<const Device>& device, std::span<const TensorView> matrices, size_t rows,
             DType act_type, bool tensor_cores, Matmul* library);
  /// The matrices [first, first + count) of `whole`, in the same memory.
  CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library);

  const void* data() const { return data_; }
  size_t matrices() const { return starts_.size() - 1; }
  WeightType type() const { return type_; }
  /// Only the prefill class uses products of the library. For one row, its algorithm for thousands of rows
  /// reads the weights at a fraction of the speed of the memory, and another algorithm would give other bits.
  Product product(ops::RowClass row_class, MatmulResult result) const {
    if (!tensor_cores_) return Product::plain;
    const bool library = row_class == ops::RowClass::prefill && by_library_[static_cast<size_t>(result)];
    return library ? Product::library : Product::mma;
  }

 private:
  /// Prepares the library for all kinds of results, because a weight does not know which will be asked for:
  /// its test takes time and memory, which nothing that is being computed should have to wait for or share.
  void prepare_library(Matmul* library);

  std::shared_ptr<const Memory> memory_;
  const void* data_;               // in memory_
  std::vector<size_t> starts_{0};  // the first output of each matrix, and rows()
  WeightType type_;
  bool tensor_cores_ = false;                                 // for its products
  std::array<bool, std::size(kMatmulResults)> by_library_{};  // products of the prefill class
};

}  // namespace carbon::cuda
