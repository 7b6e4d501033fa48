// Matrix products by a library, for the shapes where its bits keep the invariance rule.
#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {

class Matmul {
 public:
  /// What becomes of a product.
  enum class Result { f32, bf16, added };  // added: to f32
  static size_t result_bytes(Result result) { return result == Result::bf16 ? 2 : 4; }

  /// A product whose results have leading dimension ld_out.
  struct Call {
    const void* act;     // [n, k]
    const void* weight;  // [outputs, k]
    size_t n, outputs, k;
    void* out;
    size_t ld_out;
    Result result;
  };

  virtual ~Matmul() = default;
  /// Library and version, for device_kind().
  virtual std::string name() const = 0;
  /// Fixes the algorithm for bf16 weights of this shape and such results, once for all of them: the first of
  /// the library's own order that sums in one piece and whose rows have the same bits in products of
  /// different numbers of rows. False when there is none. `weight` [outputs, k] is what the test multiplies
  /// with.
  virtual bool prepare(const void* weight, size_t outputs, size_t k, Result result) = 0;
  /// bf16 times bf16, for a shape and a result that prepare() has accepted. act, out and rows of out are
  /// aligned to 16 bytes.
  virtual void run(const Call& call) = 0;
};

/// For products of up to `pass_rows` rows.
std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows);

}  // namespace carbon::cuda
