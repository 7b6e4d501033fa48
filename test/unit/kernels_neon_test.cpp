// The arithmetic of BFDOT, written out in f32 and double, against the products of neon_bf16, bit for bit. The
// Makefile leaves this file out for other machines than AArch64.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

constexpr float kSmallestNormal = 0x1p-126f;

float flushed(float x) {
  return std::fabs(x) < kSmallestNormal ? 0.0f : x;
}

/// A product of two bf16 has at most 16 significant bits, so only underflow and overflow change it.
float product(float a, float b) {
  const double exact = static_cast<double>(flushed(a)) * static_cast<double>(flushed(b));
  return std::fabs(exact) < static_cast<double>(kSmallestNormal) ? 0.0f : static_cast<float>(exact);
}

/// a + b rounded to odd. The error of the sum rounded to nearest is exact (Knuth's two-sum), and its sign
/// says whether that sum is beyond the exact one.
float sum_to_odd(float a, float b) {
  a = flushed(a);
  b = flushed(b);
  float sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const float from_b = sum - a;
  const float error = (a - (sum - from_b)) + (b - from_b);
  if (error != 0.0f) {
    if (std::signbit(error) != std::signbit(sum)) sum = std::nextafterf(sum, 0.0f);
    uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    bits |= 1;
    std::memcpy(&sum, &bits, sizeof bits);
  }
  return flushed(sum);
}

float chain(const float* a, const float* b, size_t k) {
  float sum = 0;
  for (size_t i = 0; i < k; i += 2) {
    const float second = i + 1 < k ? product(a[i + 1], b[i + 1]) : 0.0f;
    sum = sum_to_odd(sum, sum_to_odd(product(a[i], b[i]), second));
  }
  return sum;
}

bool has_neon_bf16() {
  return std::ranges::any_of(ways(), [](const Way& way) { return way.isa == "neon_bf16"; });
}

/// The products of one row of k activations with every row of a weight.
std::vector<float> products(const Stored& act, const Stored& weight, size_t k) {
  const size_t n = weight.value.size() / k;
  const auto backend = Way{"neon_bf16"}.make(DType::bf16);
  const auto prepared = backend->prepare({weight.data(), DType::bf16, n, k});
  std::vector<float> out(n);
  backend->linear(act.data(), 1, *prepared, out.data(), n);
  return out;
}

}  // namespace

TEST_CASE("a product of bf16 pairs is rounded to odd twice, as the architecture prescribes") {
  if (!has_neon_bf16()) {
    MESSAGE("SKIPPED: this CPU lacks BF16");
    return;
  }
  for (const size_t k : {1, 2, 3, 64, 511}) {  // one block: its sums are a chain from zero
    const size_t n = 200;
    Random random(k);
    const Stored a = stored(DType::bf16, random.vector(k)), w = stored(DType::bf16, random.vector(n * k));
    const std::vector<float> out = products(a, w, k);
    size_t other = 0, not_nearest = 0;
    for (size_t j = 0; j < n; ++j) {
      const float expected = chain(a.value.data(), &w.value[j * k], k);
      other += !same_bits(&out[j], &expected, 1);
      float nearest = 0;
      for (size_t i = 0; i < k; ++i) nearest = std::fmaf(a.value[i], w.value[j * k + i], nearest);
      not_nearest += !same_bits(&out[j], &nearest, 1);
    }
    INFO("K=", k);
    CHECK(other == 0);
    if (k > 3) CHECK(not_nearest > n / 2);  // the data tell the two ways to round apart
  }
}

TEST_CASE("a product of bf16 pairs takes subnormal numbers for zero, and keeps infinity and NaN") {
  if (!has_neon_bf16()) {
    MESSAGE("SKIPPED: this CPU lacks BF16");
    return;
  }
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const struct {
    float a[2], b[2], expected;
  } cases[] = {
      {{0x1p-127f, 1}, {0x1p100f, 2}, 2},        // a subnormal input
      {{0x1p-70f, 0}, {0x1p-60f, 0}, 0},         // a subnormal product
      {{0x1.8p-126f, 1}, {1, -0x1p-126f}, 0},    // a subnormal sum
      {{0x1p-126f, 0}, {1, 0}, 0x1p-126f},       // the smallest that stays
      {{0x1p100f, 0}, {0x1p100f, 0}, infinity},  // overflow of a product
      {{0x1p127f, 0x1p127f}, {1, 1}, infinity},  // overflow of a sum
      {{-infinity, 1}, {2, 1}, -infinity},      {{infinity, 1}, {0, 1}, nan},
      {{infinity, infinity}, {1, -1}, nan},     {{nan, 1}, {1, 1}, nan},
  };
  for (const auto& one : cases) {
    const Stored a = stored(DType::bf16, {one.a[0], one.a[1]}), b = stored(DType::bf16, {one.b[0], one.b[1]});
    const float got = products(a, b, 2).front();
    INFO(one.a[0], " ", one.a[1], " . ", one.b[0], " ", one.b[1], " = ", got);
    CHECK((std::isnan(one.expected) ? std::isnan(got) : got == one.expected));
  }
}
