// Products of int8: bit for bit against their definition written out, within a derived bound of double
// precision, and what they do with numbers that are hard to round. test/unit/kernels_linear_test.cpp has the
// rule of invariance.
#include <cmath>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

std::vector<Way> int8_ways() {
  std::vector<Way> result;
  for (const Way& way : all_ways())
    if (way.int8) result.push_back(way);
  return result;
}

/// Numbers in blocks of kQ8Block with a scale each.
struct Blocks {
  std::vector<int> value;
  std::vector<float> scale;
};

/// Rows of k numbers; each row is filled up with zeros to whole blocks. `round` gives the blocks of 32
/// numbers.
template <class F>
Blocks blocks_of(const std::vector<float>& values, size_t k, F round) {
  Blocks out;
  for (size_t row = 0; row < values.size(); row += k)
    for (size_t i = 0; i < k; i += kQ8Block) {
      float block[kQ8Block] = {}, largest = 0;
      for (size_t j = 0; j < std::min(kQ8Block, k - i); ++j) {
        block[j] = values[row + i + j];
        largest = std::max(largest, std::fabs(block[j]));
      }
      round(block, largest, out);
    }
  return out;
}

Blocks rounded_acts(const std::vector<float>& values, size_t k) {
  return blocks_of(values, k, [](const float* block, float largest, Blocks& out) {
    out.scale.push_back(largest / 127.0f);
    for (size_t j = 0; j < kQ8Block; ++j)
      out.value.push_back(largest == 0 ? 0 : static_cast<int>(std::nearbyint(block[j] * (127.0f / largest))));
  });
}

/// As the package gguf rounds to Q8_0.
Blocks rounded_weights(const std::vector<float>& values, size_t k) {
  return blocks_of(values, k, [](const float* block, float largest, Blocks& out) {
    const float scale = largest / 127.0f;
    out.scale.push_back(half_to_float(float_to_half(scale)));
    for (size_t j = 0; j < kQ8Block; ++j)
      out.value.push_back(scale == 0 ? 0 : static_cast<int>(std::round(block[j] * (1.0f / scale))));
  });
}

/// The definition of a product: one chain of multiply-adds over the blocks.
std::vector<float> product(const Blocks& a, const Blocks& w, size_t m, size_t n, size_t k, bool fused) {
  const size_t blocks = (k + kQ8Block - 1) / kQ8Block;
  std::vector<float> out;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (size_t b = 0; b < blocks; ++b) {
        const size_t left = i * blocks + b, right = j * blocks + b;
        int dot = 0;
        for (size_t c = 0; c < kQ8Block; ++c)
          dot += a.value[left * kQ8Block + c] * w.value[right * kQ8Block + c];
        const float scale = w.scale[right] * a.scale[left], whole = static_cast<float>(dot);
        sum = fused ? std::fma(whole, scale, sum) : sum + whole * scale;
      }
      out.push_back(sum);
    }
  return out;
}

std::vector<float> run(ops::Backend& backend, const TensorView& weight, const Stored& act, size_t m) {
  std::vector<float> out(m * weight.rows);
  backend.linear(act.data(), m, *backend.prepare(weight), out.data(), weight.rows);
  return out;
}

/// Random numbers of which every 67th is `factor` times as large, as in the columns that MLPs single out.
std::vector<float> with_outliers(Random& random, size_t n, float factor) {
  std::vector<float> values = random.vector(n);
  for (size_t i = 0; i < n; i += 67) values[i] *= factor;
  return values;
}

}  // namespace

TEST_CASE("a product of int8 has the bits of its definition") {
  for (const Way& way : int8_ways())
    for (const size_t k : {20, 32, 33, 96, 1000, 3072})
      for (const size_t n : {1, 5, 100}) {
        const size_t m = 13;
        Random random(k + n);
        const Stored a = stored(DType::bf16, with_outliers(random, m * k, 40.0f));
        for (const DType type : {DType::f32, DType::bf16}) {
          const Stored w = stored(type, random.vector(n * k, 0.3f));
          const std::vector<float> want =
              product(rounded_acts(a.value, k), rounded_weights(w.value, k), m, n, k, way.isa != "generic");
          const std::vector<float> got = run(*way.make(DType::bf16, 2), {w.data(), type, n, k}, a, m);
          INFO(way.name(), " ", dtype_name(type), " N=", n, " K=", k);
          CHECK(same_bits(got.data(), want.data(), want.size()));
        }
      }
}

TEST_CASE("weights of q8_0 are used as they are, and rounding makes the same") {
  const size_t m = 3, n = 70, k = 320;
  Random random(40);
  const Stored a = stored(DType::bf16, random.vector(m * k));
  const StoredBlocks w = stored_q8_0(random.vector(n * k));
  StoredBlocks lowest = w;  // -128, which rounding does not make
  for (size_t i = 2; i < lowest.bytes.size(); i += 7)
    if (i % 34 > 1) lowest.bytes[i] = 0x80;
  Blocks blocks;
  for (size_t i = 0; i < lowest.bytes.size(); ++i) {
    if (i % 34 == 1)
      blocks.scale.push_back(
          half_to_float(static_cast<uint16_t>(lowest.bytes[i - 1] | lowest.bytes[i] << 8)));
    if (i % 34 > 1) blocks.value.push_back(static_cast<int8_t>(lowest.bytes[i]));
  }
  for (const Way& way : int8_ways()) {
    const auto backend = way.make(DType::bf16, 2);
    INFO(way.name());
    const std::vector<float> from_blocks = run(*backend, {w.bytes.data(), WeightType::q8_0, n, k}, a, m),
                             from_f32 = run(*backend, {w.value.data(), DType::f32, n, k}, a, m);
    CHECK(same_bits(from_blocks.data(), from_f32.data(), m * n));
    const std::vector<float> want = product(rounded_acts(a.value, k), blocks, m, n, k, way.isa != "generic"),
                             got = run(*backend, {lowest.bytes.data(), WeightType::q8_0, n, k}, a, m);
    CHECK(same_bits(got.data(), want.data(), m * n));
  }
}

// A weight errs by half a step and by 2^-11 of itself, the rounding of its scale to f16; an activation by
// half a step. The chain errs by 2^-24 of each of its sums, and the scales by as much.
TEST_CASE("products of int8 are within the rounding of their factors of double precision") {
  const size_t m = 9, n = 40, k = 1024;
  Random random(41);
  for (const float factor : {1.0f, 30.0f, 1000.0f}) {
    const Stored a = stored(DType::bf16, with_outliers(random, m * k, factor)),
                 w = stored(DType::bf16, random.vector(n * k, 0.05f));
    const Blocks acts = rounded_acts(a.value, k), weights = rounded_weights(w.value, k);
    for (const Way& way : int8_ways()) {
      const std::vector<float> got = run(*way.make(DType::bf16), {w.data(), DType::bf16, n, k}, a, m);
      double worst = 0;
      for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
          double sum = 0, bound = 0;
          for (size_t c = 0; c < k; ++c) {
            const double x = a.value[i * k + c], y = w.value[j * k + c],
                         dx = acts.scale[(i * k + c) / kQ8Block] * 0.5001,
                         dy = weights.scale[(j * k + c) / kQ8Block] * 0.5001 + std::fabs(y) * 0x1p-11;
            sum += x * y;
            bound +=
                dx * std::fabs(y) + dy * std::fabs(x) + dx * dy + (k / 32.0) * 0x1p-23 * std::fabs(x * y);
          }
          worst = worse(worst, std::fabs(static_cast<double>(got[i * n + j]) - sum) / bound);
        }
      INFO(way.name(), " outliers ", factor);
      CHECK(worst <= 1.0);
    }
  }
}

TEST_CASE("blocks of zeros, of tiny and of huge numbers have finite products; NaN and infinity show") {
  const size_t n = 3, k = 64;
  Random random(42);
  const Stored w = stored(DType::bf16, random.vector(n * k));
  const float infinite = std::numeric_limits<float>::infinity();
  for (const Way& way : int8_ways()) {
    const auto backend = way.make(DType::bf16);
    const auto with = [&](float value) {
      std::vector<float> act = random.vector(k);
      for (size_t j = 32; j < 64; j += 3) act[j] = value;
      return run(*backend, {w.data(), DType::bf16, n, k}, stored(DType::bf16, act), 1);
    };
    INFO(way.name());
    for (const float value : {0.0f, 1e-40f, 1e-36f, 1e-20f, 1e30f})
      for (const float out : with(value)) CHECK(std::isfinite(out));
    for (const float value : {infinite, -infinite, std::nanf("")})
      for (const float out : with(value)) CHECK(std::isnan(out));
    // In a weight: its output alone.
    for (const float value : {infinite, std::nanf("")}) {
      std::vector<float> weights = w.value;
      weights[k + 5] = value;
      const std::vector<float> out =
          run(*backend, {weights.data(), DType::f32, n, k}, stored(DType::bf16, random.vector(k)), 1);
      CHECK(std::isfinite(out[0]));
      CHECK(!std::isfinite(out[1]));
      CHECK(std::isfinite(out[2]));
    }
    const std::vector<float> tiny(n * k, 1e-9f);  // the scale is 0 as f16
    for (const float out : run(*backend, {tiny.data(), DType::f32, n, k}, w, 1)) CHECK(out == 0.0f);
  }
}

TEST_CASE("products of int8 have a rate, and go with activations in bf16 only") {
  for (const cpu::Kernels* kernels : cpu::supported_kernels()) {
    alignas(64) float values[cpu::kPeakValues];
    std::fill_n(values, cpu::kPeakValues, 1.0f);
    CHECK(kernels->multiply_adds(WeightType::q8_0, 10, values) > 0);
  }
  CHECK_THROWS_AS((Way{"generic", true}.make(DType::f32)), Error);
  CHECK(Way{"generic", true}.make(DType::bf16)->int8());
  CHECK(!Way{"generic"}.make(DType::bf16)->int8());
}
