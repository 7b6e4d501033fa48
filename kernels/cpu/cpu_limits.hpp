// What this machine can do at most, measured: the rates that others are compared with.
//
// Knows no model. Every call works for a fraction of a second on the given number of threads.
#pragma once

#include <cstddef>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cpu {

/// Bandwidth of memory beyond every cache.
class MemoryLimits {
 public:
  /// Takes kBytes of memory. Throws Error if there is no more.
  explicit MemoryLimits(int threads);

  static constexpr size_t kBytes = size_t{1} << 30;
  /// Bytes read per second.
  double read_rate();
  /// Bytes read and bytes written per second, together.
  double copy_rate();

 private:
  int threads_;
  Memory memory_;
};

/// Floating-point operations per second (two a multiply-add) of the instructions that products of this
/// activation type use, on registers alone.
double multiply_add_rate(DType act_type, int threads);

}  // namespace carbon::cpu
