// A weight as the CPU backend keeps it: the caller's view, a bf16 copy, or oneDNN's reordered copy.
#pragma once

#include <memory>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/cpu/cpu_onednn.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

class CpuWeight final : public ops::Weight {
 public:
  /// In bf16 mode other types are rounded into a copy; in f32 mode the view is used as it is. `onednn` may be
  /// null.
  CpuWeight(const Kernels& kernels, const TensorView& matrix, DType act_type, OneDnn* onednn);

  /// Not null: multiply with it. Null: data() and type() are for the own kernels.
  OneDnnWeight* onednn() const { return onednn_.get(); }
  const void* data() const { return data_; }
  DType type() const { return type_; }

 private:
  const void* data_;
  DType type_;
  Memory copy_;
  std::unique_ptr<OneDnnWeight> onednn_;
};

}  // namespace carbon::cpu
