// A weight of the CPU backend: its matrices, each in panels for the kernels.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"
#include "src/base/threads.hpp"

namespace carbon::cpu {

/// The numbers of products: those of activations, or int8 for weights and activations.
enum class Products : uint8_t { act_type, int8 };

class CpuMatrix {
 public:
  /// Products of int8 have panels of int8 with scales (WeightType::q8_0): elements of that type are taken as
  /// they are, others are rounded (Kernels::round_weights). Otherwise, if activations are bf16, elements of
  /// other types are rounded to bf16; if they are f32, elements keep their type, or become f32 if that is a
  /// type with blocks. The memory of `matrix` is not needed afterwards.
  CpuMatrix(const Kernels& kernels, WeightMemory& memory, const TensorView& matrix, DType act_type,
            Products products, ThreadPool& pool);

  size_t rows() const { return rows_; }
  WeightType type() const { return type_; }
  size_t panels() const { return (rows_ + panel_outputs_ - 1) / panel_outputs_; }
  const void* panel(size_t i) const { return data_.get() + i * panel_bytes_; }
  size_t first_output(size_t panel) const { return panel * panel_outputs_; }
  /// The number of outputs in panels [panel, panel_end).
  size_t outputs_from(size_t panel, size_t panel_end) const {
    return std::min(first_output(panel_end), rows_) - first_output(panel);
  }

 private:
  size_t rows_;
  WeightType type_;
  size_t panel_outputs_, panel_bytes_ = 0;
  std::shared_ptr<const char> data_;
};

class CpuWeight final : public ops::Weight {
 public:
  using Matrices = std::vector<std::shared_ptr<const CpuMatrix>>;
  CpuWeight(Matrices matrices, size_t rows, size_t cols)
      : Weight(rows, cols), matrices_(std::move(matrices)) {}

  /// The matrices in the order of their outputs.
  const Matrices& matrices() const { return matrices_; }
  /// The number of panels of all matrices.
  size_t panels() const;
  /// The matrix if there is only one; otherwise null.
  const CpuMatrix* single() const;

 private:
  Matrices matrices_;
};

}  // namespace carbon::cpu
