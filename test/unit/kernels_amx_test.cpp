// Products by the tiles of AMX, bit for bit against the order of sums that kernels/cpu/amx.inl documents,
// written out. What all instruction sets promise is in test/unit/kernels_linear_test.cpp.
#include <algorithm>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

constexpr size_t kInner = 32;

/// The product of a row and an output, k numbers each.
float chain(const bf16* act, const bf16* weight, size_t k) {
  float sum = 0;
  for (size_t i = 0; i < k; i += kInner) {
    float even = 0, odd = 0;
    for (size_t j = i; j < i + kInner; j += 2) {
      // A product of two bf16 is exact in f32.
      even += to_float(act[j]) * to_float(weight[j]);
      odd += to_float(act[j + 1]) * to_float(weight[j + 1]);
    }
    sum += even + odd;
  }
  return sum;
}

std::vector<bf16> random_bf16(Random& random, size_t n) {
  std::vector<bf16> result(n);
  std::ranges::transform(random.vector(n), result.begin(), to_bf16);
  return result;
}

bool has_tiles() {
  return std::ranges::any_of(ways(), [](const Way& way) { return way.isa == "avx512_amx"; });
}

}  // namespace

TEST_CASE("products by tiles have the documented order of sums for every number of rows") {
  if (!has_tiles()) {
    MESSAGE("SKIPPED: this CPU has no AMX");
    return;
  }
  constexpr size_t outputs = 150;  // two panels, and a part of one
  for (const size_t k : {kInner, 3 * kInner, size_t{1024}}) {
    Random random(k);
    const std::vector<bf16> weight = random_bf16(random, outputs * k), act = random_bf16(random, 250 * k);
    for (const int threads : {1, 2}) {
      const auto backend = Way{"avx512_amx"}.make(DType::bf16, threads);
      const auto prepared = backend->prepare({weight.data(), DType::bf16, outputs, k});
      for (const size_t rows : {1, 2, 15, 16, 17, 32, 33, 47, 64, 100, 193, 250}) {
        CAPTURE(k);
        CAPTURE(rows);
        std::vector<float> out(rows * outputs), expected(rows * outputs);
        backend->linear(act.data(), rows, *prepared, out.data(), outputs, ops::RowClass::prefill);
        for (size_t i = 0; i < rows; ++i)
          for (size_t j = 0; j < outputs; ++j)
            expected[i * outputs + j] = chain(&act[i * k], &weight[j * k], k);
        CHECK(same_bits(out.data(), expected.data(), out.size()));
      }
    }
  }
}
