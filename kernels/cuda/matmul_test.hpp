// The test that decides whether an algorithm of a library may compute scores: parts of a product, computed
// alone, must have the bits that they have in the whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul_call.hpp"

namespace carbon::cuda {

class MatmulTest {
 public:
  /// For products of up to `rows` rows. Throws OutOfMemory, which says what needs the memory.
  MatmulTest(const std::shared_ptr<const Device>& device, size_t rows, size_t outputs, size_t k,
             MatmulResult result);

  /// A part that failed, the longest of those that were compared together.
  struct Failure {
    size_t rows;
    std::string text;
  };
  /// `multiply` puts a product on the stream; it returns false, or throws Error, if it cannot.
  std::optional<Failure> run(const std::function<bool(const MatmulCall&)>& multiply) const;

 private:
  /// Rows [first, first + count) of the whole, and the leading dimension of their results.
  struct Part {
    size_t first, count, ld_out;
  };
  std::vector<Part> parts() const;
  /// False if the part could not be computed. If it is added, then to the same numbers as in the whole.
  bool multiply_part(const std::function<bool(const MatmulCall&)>& multiply, const Part& part,
                     void* out) const;

  std::shared_ptr<const Device> device_;
  Memory act_, weight_, whole_, part_, before_;
  MatmulCall all_;
};

}  // namespace carbon::cuda
