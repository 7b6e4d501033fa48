// Matrix products by a library, for shapes for which it keeps the rule of invariance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"

namespace carbon::cuda {

class Matmul {
 public:
  /// The results of a product: stored as f32 or bf16, or added to f32.
  enum class Result { f32, bf16, added };
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
  /// The name and version of the library, for device_kind().
  virtual std::string name() const = 0;
  /// Chooses the algorithm for all bf16 weights of this shape and this kind of result: the first one, in the
  /// order of the library, that sums in one piece and gives a row the same bits in products of different
  /// numbers of rows. If only products of few rows differ, these are padded (row_padding.hpp). Returns false
  /// if there is no such algorithm. The test multiplies with `weight` [outputs, k].
  virtual bool prepare(const void* weight, size_t outputs, size_t k, Result result) = 0;
  /// How prepare() chose for this shape and kind of result: a line for each rule that refused an algorithm,
  /// and one for the algorithm that was chosen.
  virtual std::vector<std::string> choice(size_t /*outputs*/, size_t /*k*/, Result /*result*/) const {
    return {};
  }
  /// bf16 times bf16, for a shape and a kind of result that prepare() accepted. act, out and the rows of out
  /// must be aligned to 16 bytes.
  virtual void run(const Call& call) = 0;
};

/// For products of up to `pass_rows` rows.
std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows);

}  // namespace carbon::cuda
