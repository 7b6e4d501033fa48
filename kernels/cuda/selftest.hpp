// What a test of products on the device needs: numbers, and comparisons of bits.
#pragma once

#include <vector>

#include "kernels/cuda/device.hpp"

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

}  // namespace carbon::cuda
