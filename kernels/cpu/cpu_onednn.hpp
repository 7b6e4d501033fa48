// Matrix products by oneDNN, where they are fast and keep the invariance rule; nothing without CARBON_ONEDNN.
//
// Only bf16 x bf16 -> f32, and only with an implementation (its name begins with "brg:") that was seen to
// compute a row's bits regardless of the number of rows and threads. That is checked for each shape of weight
// before it is used; a shape that fails is left to the kernels of this program.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/tensor.hpp"

namespace carbon::cpu {

/// A weight [rows, cols] in oneDNN's own order.
class OneDnnWeight {
 public:
  virtual ~OneDnnWeight() = default;
  /// out[i, j] = sum_k act[i, k] * w[j, k]; act bf16 [n, cols]; out f32, leading dimension ld_out.
  virtual void multiply(const bf16* act, size_t n, float* out, size_t ld_out) = 0;
};

/// oneDNN on the CPU with a fixed number of threads. Not thread-safe.
class OneDnn {
 public:
  virtual ~OneDnn() = default;
  /// The bf16 matrix at `data` reordered, or null where oneDNN may not be used for its shape. `data` is not
  /// needed afterwards.
  virtual std::unique_ptr<OneDnnWeight> prepare(const bf16* data, size_t rows, size_t cols) = 0;
  /// Version and, with AMX, "amx": what results depend on.
  virtual std::string kind() const = 0;
};

/// Whether oneDNN is built in and would use AMX on this CPU.
bool onednn_has_amx();

/// Null when the program was built without oneDNN.
std::unique_ptr<OneDnn> make_onednn(int threads);

}  // namespace carbon::cpu
