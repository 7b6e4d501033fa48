// The two ends of the residual stream: rows of the embedding table go to the device, and states come to the
// host.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

/// The rows of the embedding table that were used so far, on the device.
///
/// The table itself stays in host memory (usually a mapped file). DNA uses about 4,100 of its 155,776 rows,
/// so a row is copied to the device when it is first needed, and kept. A table of few rows (a vector of the
/// checkpoint) is not kept. The kept table is recognized by its address, and its contents must not change.
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

/// States of the residual stream on their way to the host: their final norm, and sums of them (ops::Backend).
class States {
 public:
  explicit States(std::shared_ptr<const Device> device)
      : device_(device), scratch_(std::move(device), "states") {}
  void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width, float* out);
  void sum_rows(const float* x, const float* weight, float eps, size_t width,
                std::span<const ops::RowSums> rows, double* sums);

 private:
  std::shared_ptr<const Device> device_;
  Scratch scratch_;
};

}  // namespace carbon::cuda
