// Matrix products by oneDNN, where they are fast and keep the rule of invariance. Built only with
// CARBON_ONEDNN.
//
// Only bf16 x bf16 -> f32, and only with implementations whose names begin with "brg". Measurements with
// oneDNN 2.6 and 3.7 showed that these give a row the same bits among any number of rows and on any number of
// threads, except that 3.7 sums a row alone in another order; such a row is computed with a row of zeros.
// A weight is cut into pieces of outputs, and rows into blocks; each piece of a block is computed by one
// thread of the pool, on which oneDNN starts no threads. Each shape of weight is tested for all of that
// before it is used, against a product of the whole weight; a shape that fails is tested again without
// pieces, and one that fails then is left to the kernels of this program.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/tensor.hpp"
#include "src/base/thread_pool.hpp"

namespace carbon::cpu {

/// A weight [rows, cols] in the layout of oneDNN.
class OneDnnWeight {
 public:
  virtual ~OneDnnWeight() = default;
  /// out[i, j] = sum_k act[i, k] * w[j, k]; act [n, cols]; out [n, rows] with leading dimension ld_out.
  virtual void multiply(const bf16* act, size_t n, float* out, size_t ld_out) = 0;
};

/// oneDNN on the threads of a pool. Not thread-safe.
class OneDnn {
 public:
  virtual ~OneDnn() = default;
  /// Copies the matrix into the layout of oneDNN. Returns null if oneDNN may not be used for its shape.
  /// `data` is not needed afterwards.
  virtual std::unique_ptr<OneDnnWeight> prepare(const bf16* data, size_t rows, size_t cols) = 0;
  /// The version of oneDNN, followed by "amx" if it uses AMX: what results depend on.
  virtual std::string kind() const = 0;
};

/// True if oneDNN is built in and would use AMX on this CPU.
bool onednn_has_amx();

/// Null if the program was built without oneDNN. The pool must outlive it.
std::unique_ptr<OneDnn> make_onednn(ThreadPool& pool);

}  // namespace carbon::cpu
