// Matrix products by a library, for shapes for which it keeps the rule of invariance.
//
// A library usually chooses an algorithm by the number of rows. Here one algorithm is chosen for a shape and
// used for every number of rows, and only if a test (matmul_test.hpp) finds that its rows always have the
// same bits. Numbers of rows that the algorithm does not support are computed with rows of zeros.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/row_padding.hpp"

namespace carbon::cuda {

class MatmulTest;

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

}  // namespace carbon::cuda
