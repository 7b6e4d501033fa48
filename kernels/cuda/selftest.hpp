// The test that decides whether an algorithm of a library may compute scores: parts of a product, computed
// alone, must have the bits that they have in the whole. And what it needs of the device: numbers, and
// comparisons of bits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/matmul.hpp"

namespace carbon::cuda {

/// Fills n bf16 with numbers in [-1, 1), always the same.
void fill_random(const Device& device, void* to, size_t n);
/// Fills bf16 [rows, k] with such numbers, so that the second half of a row is the first half times `sign`.
/// If k is odd, the last column is zero.
void fill_opposite(const Device& device, void* to, size_t rows, size_t k, int sign);

/// Comparisons of memory on the device, many of them to one wait.
class Comparisons {
 public:
  /// For up to `most` comparisons at a time.
  Comparisons(std::shared_ptr<const Device> device, size_t most);
  /// Puts a comparison on the stream: of `rows` rows of `bytes`, which begin a_step and b_step bytes apart.
  /// All sizes are multiples of 4.
  void add(const void* a, size_t a_step, const void* b, size_t b_step, size_t bytes, size_t rows);
  /// Waits for the comparisons since the last call; for each, true if any bit differs.
  std::vector<bool> results();

 private:
  std::shared_ptr<const Device> device_;
  Memory found_;
  size_t count_ = 0;
};

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
