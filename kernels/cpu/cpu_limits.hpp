// Measures the limits of this machine, with which the speed of a model is compared.
//
// Knows no model. Every call takes a fraction of a second on the given number of threads.
#pragma once

#include <cstddef>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/tensor.hpp"
#include "src/base/threads.hpp"

namespace carbon::cpu {

/// The bandwidth of memory that no cache can hold.
class MemoryLimits {
 public:
  /// Allocates kBytes. Throws OutOfMemory.
  explicit MemoryLimits(int threads);

  static constexpr size_t kBytes = size_t{1} << 30;
  /// Bytes read per second.
  double read_rate();
  /// The sum of bytes read and bytes written per second.
  double copy_rate();

 private:
  ThreadPool pool_;
  Memory memory_;
};

/// Operations per second (a multiply-add counts as two) of the instructions that matrix products with weights
/// of this type (f32, bf16, q8_0) use, on registers only.
double multiply_add_rate(WeightType type, int threads);

}  // namespace carbon::cpu
