// A weight as the CPU backend keeps it: its matrices, each in panels for the own kernels or in oneDNN's
// order.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/cpu/cpu_onednn.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

class CpuMatrix {
 public:
  /// In bf16 mode other types are rounded; in f32 mode elements keep their type. `onednn` may be null. The
  /// matrix is not needed afterwards.
  CpuMatrix(const Kernels& kernels, const TensorView& matrix, DType act_type, OneDnn* onednn, int threads);

  size_t rows() const { return rows_; }
  /// Not null: multiply with it. Null: the panels are for the own kernels.
  OneDnnWeight* onednn() const { return onednn_.get(); }
  DType type() const { return type_; }
  size_t panels() const { return data_ ? (rows_ + panel_outputs_ - 1) / panel_outputs_ : 0; }
  const void* panel(size_t i) const { return static_cast<const char*>(data_.get()) + i * panel_bytes_; }
  size_t first_output(size_t panel) const { return panel * panel_outputs_; }
  /// Outputs in panels [panel, panel_end).
  size_t outputs_from(size_t panel, size_t panel_end) const {
    return std::min(first_output(panel_end), rows_) - first_output(panel);
  }

 private:
  size_t rows_;
  DType type_;
  size_t panel_outputs_, panel_bytes_ = 0;
  Memory data_;
  std::unique_ptr<OneDnnWeight> onednn_;
};

class CpuWeight final : public ops::Weight {
 public:
  using Matrices = std::vector<std::shared_ptr<const CpuMatrix>>;
  CpuWeight(Matrices matrices, size_t rows, size_t cols)
      : Weight(rows, cols), matrices_(std::move(matrices)) {}

  /// Their outputs follow one another.
  const Matrices& matrices() const { return matrices_; }
  /// Of all matrices.
  size_t panels() const;
  /// The only matrix, if it is in panels; else null.
  const CpuMatrix* single() const;

 private:
  Matrices matrices_;
};

/// A matrix [rows, cols] in panels of `outputs` rows of it: [panels, steps, outputs, step], where a step is
/// one column, or with `pairs` two. What is past the matrix is zero.
Memory pack_panels(const void* matrix, DType type, size_t rows, size_t cols, size_t outputs, bool pairs,
                   int threads);

}  // namespace carbon::cpu
