// Rows of embedding tables on the device: those that have been asked for.
//
// The table itself stays in host memory (usually a mapped file). DNA uses some 4,100 of its 155,776 rows, so
// rows are copied when they are first needed and kept; a table of few rows (a vector of the checkpoint) is
// not kept. The kept one is known by its address, and its contents must not change.
#pragma once

#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

class Embedding {
 public:
  explicit Embedding(const std::shared_ptr<const Device>& device);
  /// x[i, :] = table[rows[i], :] in f32. Rows lie within the table.
  void gather(const TensorView& table, std::span<const uint32_t> rows, float* x);

 private:
  void gather_once(const TensorView& table, std::span<const uint32_t> rows, float* x);
  void change_table(const TensorView& table);
  void grow(size_t count);

  std::shared_ptr<const Device> device_;
  TensorView table_;             // the one that is kept
  std::vector<uint32_t> slots_;  // of each of its rows, or kAbsent
  size_t used_ = 0, capacity_ = 0;
  Memory kept_;  // [capacity_, cols] in the table's type
  Scratch indices_, passing_;
};

}  // namespace carbon::cuda
