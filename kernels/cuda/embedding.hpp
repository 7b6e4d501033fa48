// The rows of the embedding table that were used so far, on the device.
//
// The table itself stays in host memory (usually a mapped file). DNA uses about 4,100 of its 155,776 rows, so
// a row is copied to the device when it is first needed, and kept. A table of few rows (a vector of the
// checkpoint) is not kept. The kept table is recognized by its address, and its contents must not change.
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

class Embedding {
 public:
  explicit Embedding(const std::shared_ptr<const Device>& device);
  /// x[i, :] = table[rows[i], :] as f32. All rows must be in the table.
  void gather(const TensorView& table, std::span<const uint32_t> rows, float* x);

 private:
  void gather_once(const TensorView& table, std::span<const uint32_t> rows, float* x);
  void change_table(const TensorView& table);
  void grow(size_t count);

  std::shared_ptr<const Device> device_;
  TensorView table_;             // the table whose rows are kept
  std::vector<uint32_t> slots_;  // the place of each of its rows in kept_, or kAbsent
  size_t used_ = 0, capacity_ = 0;
  Memory kept_;  // [capacity_, cols] in the type of the table, or f32 if that has blocks
  Scratch indices_, passing_;
};

}  // namespace carbon::cuda
