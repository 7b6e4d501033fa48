// What the CPU of this machine can do: the instruction set whose kernels run on it, and its limits, with
// which the speed of a model is compared.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/cpu_parts.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/tensor.hpp"
#include "src/base/threads.hpp"

namespace carbon::cpu {

/// The kernels for instruction set `isa`. For "" that is $CARBON_FORCE_ISA, or the fastest that this CPU has.
/// Throws Error if the instruction set is unknown or the CPU does not have it.
const Kernels& select_kernels(std::string_view isa);

/// The names of all instruction sets that this program has kernels for, the slowest first.
std::vector<std::string> known_isas();

/// The kernels for all instruction sets that this CPU has, the slowest first.
std::vector<const Kernels*> supported_kernels();

// The limits. Nothing of this knows a model, and every call takes a fraction of a second on the given number
// of threads.

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
