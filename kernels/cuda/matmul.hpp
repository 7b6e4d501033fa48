// A weight on the device, the choice of what multiplies with it, and products by a library, for shapes for
// which it keeps the rule of invariance.
//
// A library usually chooses an algorithm by the number of rows. Here one algorithm is chosen for a shape and
// used for every number of rows, and only if a test (selftest.hpp) finds that its rows always have the same
// bits. Numbers of rows that the algorithm does not support are computed with rows of zeros.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/ops.hpp"
#include "kernels/tensor.hpp"

namespace carbon::cuda {

class MatmulTest;

/// The results of a product: stored as f32 or bf16, or added to f32.
enum class MatmulResult { f32, bf16, added };
inline constexpr MatmulResult kMatmulResults[] = {MatmulResult::f32, MatmulResult::bf16, MatmulResult::added};
constexpr size_t result_bytes(MatmulResult result) {
  return result == MatmulResult::bf16 ? 2 : 4;
}

/// A product of bf16 matrices whose results have leading dimension ld_out.
struct MatmulCall {
  const void* act;     // [n, k]
  const void* weight;  // [outputs, k]
  size_t n, outputs, k;
  void* out;
  size_t ld_out;
  MatmulResult result;

  /// The rows [first, first + count).
  MatmulCall part(size_t first, size_t count) const {
    MatmulCall some = *this;
    some.act = static_cast<const bf16*>(act) + first * k;
    some.out = static_cast<char*>(out) + first * ld_out * result_bytes(result);
    some.n = count;
    return some;
  }
};

/// Numbers of rows are filled up to multiples of this: the rows of a library's usual tile.
inline constexpr size_t kPaddingStep = 128;

/// Products of some rows, computed as products of more. An algorithm of a library may not support a number of
/// rows, or compute few rows in another way than many, with other bits.
class RowPadding {
 public:
  explicit RowPadding(std::shared_ptr<const Device> device);
  /// Calls `multiply` for a product of `rows` rows: first those of `call`, which has fewer, then zeros. Then
  /// copies the results of the first ones to where `call` wants them. Returns false, and writes nothing to
  /// the results, if `multiply` does.
  bool run(const MatmulCall& call, size_t rows, const std::function<bool(const MatmulCall&)>& multiply);

 private:
  std::shared_ptr<const Device> device_;
  Scratch act_, out_;
};

/// One algorithm of a library, for a shape and a kind of result.
class MatmulAlgorithm {
 public:
  virtual ~MatmulAlgorithm() = default;
  virtual std::string name() const = 0;
  /// Why it may not be used, by what the library says of it; empty if nothing speaks against it.
  virtual std::string objection() const { return ""; }
  /// Puts the product on the stream. Returns false, and puts nothing there, if the algorithm does not support
  /// such a product. Throws Error if it fails otherwise.
  virtual bool multiply(const MatmulCall& call) = 0;
};

class MatmulLibrary {
 public:
  virtual ~MatmulLibrary() = default;
  /// Its name and version, for device_kind().
  virtual std::string name() const = 0;
  /// The algorithms that it proposes for products of `rows` rows, in its order. Rows of act and of results
  /// are aligned to 16 bytes.
  virtual std::vector<std::unique_ptr<MatmulAlgorithm>> propose(size_t rows, size_t outputs, size_t k,
                                                                MatmulResult result) = 0;
};

class Matmul {
 public:
  /// Algorithms are chosen and tested for products of `rows` rows, which is the number in a full pass.
  Matmul(std::shared_ptr<const Device> device, std::unique_ptr<MatmulLibrary> library, size_t rows);
  ~Matmul();

  std::string name() const { return library_->name(); }
  /// Chooses the algorithm for all bf16 weights of this shape and this kind of result: the first one, in the
  /// order of the library, to which the library does not object and which passes the test. If it fails only
  /// for few rows, these are padded. Returns false if there is no such algorithm. Throws OutOfMemory if the
  /// device has no room for the test.
  bool prepare(size_t outputs, size_t k, MatmulResult result);
  /// How prepare() chose: the algorithm, if there is one, and why those before it were refused.
  std::string choice(size_t outputs, size_t k, MatmulResult result) const;
  /// A line for each shape and kind of result: what computes it, without what was refused.
  std::string choices() const;
  /// bf16 times bf16, for a shape and a kind of result that prepare() accepted. act, out and the rows of out
  /// must be aligned to 16 bytes.
  void run(const MatmulCall& call);

 private:
  /// The chosen algorithm for any number of rows.
  struct Padded {
    std::unique_ptr<MatmulAlgorithm> algorithm;
    size_t least_rows = 1;            // fewer are padded, because they would have other bits
    std::map<size_t, size_t> rows{};  // numbers of rows that are padded, and to how many
  };
  struct Choice {
    std::unique_ptr<Padded> padded;
    std::string text;
  };
  using Shape = std::tuple<size_t, size_t, MatmulResult>;  // outputs and k

  Choice choose(const Shape& shape);
  /// Tests the algorithm, and with padding of few rows if it fails only for those. The reason if it fails.
  std::string try_algorithm(Padded& candidate, const MatmulTest& test);
  /// False if the algorithm supports neither this number of rows nor a larger multiple of kPaddingStep.
  bool multiply(Padded& padded, const MatmulCall& call);

  std::shared_ptr<const Device> device_;
  std::unique_ptr<MatmulLibrary> library_;
  size_t rows_;
  RowPadding padding_;
  std::map<Shape, Choice> choices_;
};

/// Throws Error if the library is not on this machine.
void require_matmul_library();
/// The library of this build, for products in passes of `pass_rows` rows. Throws Error if it is not there.
std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows);

/// A weight, and the choice of the kernels that multiply with it.
class CudaWeight final : public ops::Weight {
 public:
  /// Who computes products. Each has a different order of sums, so the choice is fixed for a weight and a
  /// class of rows, and does not depend on the number of rows.
  enum class Product { plain, mma, library };

  /// Copies the matrices, which have `rows` outputs together, to the device, one after the other. If
  /// activations are bf16 the matrices are rounded to bf16; if they are f32 the matrices keep their type, or
  /// become f32 if their types differ or have blocks; in f16 they have scales (ops::Backend::prepare), and
  /// `exponents` is empty or has one for each. Without `tensor_cores` the product is plain; `library` may be
  /// null, and is for bf16.
  CudaWeight(const std::shared_ptr<const Device>& device, std::span<const TensorView> matrices,
             std::span<const int> exponents, size_t rows, DType act_type, bool tensor_cores, Matmul* library);
  /// The matrices [first, first + count) of `whole`, in the same memory.
  CudaWeight(const CudaWeight& whole, size_t first, size_t count, Matmul* library);

  const void* data() const { return data_; }
  /// Factors of the outputs in device memory, in f16; else null.
  const float* scales() const { return scales_; }
  size_t matrices() const { return starts_.size() - 1; }
  WeightType type() const { return type_; }
  /// Only the prefill class uses products of the library. For one row, its algorithm for thousands of rows
  /// reads the weights at a fraction of the speed of the memory, and another algorithm would give other bits.
  Product product(ops::RowClass row_class, MatmulResult result) const {
    if (!tensor_cores_) return Product::plain;
    const bool library = row_class == ops::RowClass::prefill && by_library_[static_cast<size_t>(result)];
    return library ? Product::library : Product::mma;
  }

 private:
  /// Prepares the library for all kinds of results, because a weight does not know which will be asked for:
  /// its test takes time and memory, which nothing that is being computed should have to wait for or share.
  void prepare_library(Matmul* library);

  std::shared_ptr<const Memory> memory_, scale_memory_;
  const void* data_;               // in memory_
  const float* scales_ = nullptr;  // in scale_memory_
  std::vector<size_t> starts_{0};  // the first output of each matrix, and rows()
  WeightType type_;
  bool tensor_cores_ = false;                                 // for its products
  std::array<bool, std::size(kMatmulResults)> by_library_{};  // products of the prefill class
};

}  // namespace carbon::cuda
