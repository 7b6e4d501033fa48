// A weight as the CPU backend keeps it: in panels for the own kernels, or in oneDNN's order.
#pragma once

#include <algorithm>
#include <memory>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/cpu/cpu_onednn.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

class CpuWeight final : public ops::Weight {
 public:
  /// In bf16 mode other types are rounded; in f32 mode elements keep their type. `onednn` may be null. The
  /// matrix is not needed afterwards.
  CpuWeight(const Kernels& kernels, const TensorView& matrix, DType act_type, OneDnn* onednn, int threads);

  /// Not null: multiply with it. Null: the panels are for the own kernels.
  OneDnnWeight* onednn() const { return onednn_.get(); }
  DType type() const { return type_; }
  size_t panels() const { return (rows() + panel_outputs_ - 1) / panel_outputs_; }
  const void* panel(size_t i) const { return static_cast<const char*>(data_.get()) + i * panel_bytes_; }
  size_t first_output(size_t panel) const { return panel * panel_outputs_; }
  /// Outputs in panels [panel, panel_end).
  size_t outputs_from(size_t panel, size_t panel_end) const {
    return std::min(first_output(panel_end), rows()) - first_output(panel);
  }

 private:
  DType type_;
  size_t panel_outputs_, panel_bytes_ = 0;
  Memory data_;
  std::unique_ptr<OneDnnWeight> onednn_;
};

/// A matrix [rows, cols] in panels of `outputs` rows of it: [panels, steps, outputs, step], where a step is
/// one column, or with `pairs` two. What is past the matrix is zero.
Memory pack_panels(const void* matrix, DType type, size_t rows, size_t cols, size_t outputs, bool pairs,
                   int threads);

}  // namespace carbon::cpu
