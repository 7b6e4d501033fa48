// The powers of two of f16: which weights they keep exact, and that no activation can overflow, whatever the
// tokens are: for each row of a matrix, the residual stream that makes its product largest goes through the
// norm, the product and the roundings of the kernels.
#include "src/transformer/f16_exponents.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include "kernels/cuda/f16_weights.hpp"
#include "src/base/error.hpp"
#include "test/reference/kernel_data.hpp"

namespace carbon {
namespace {

using testing::Random;
using testing::stored;
using testing::Stored;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// As the kernels store a number in f16, with its exponent.
float half(double value, int exponent) {
  return half_to_float(float_to_half(static_cast<float>(std::ldexp(value, -exponent))));
}

struct Matrix {
  size_t rows, cols;
  std::vector<float> values;
  TensorView view() const { return {values.data(), DType::f32, rows, cols}; }
  float* row(size_t i) { return &values[i * cols]; }
  const float* row(size_t i) const { return &values[i * cols]; }
};

/// The matrices of a block that have bounds.
struct Block {
  ModelConfig config;
  Matrix attention_norm, q, k, v, q_norm, k_norm, mlp_norm, gate, up;

  Block(size_t hidden, size_t intermediate, bool head_norm, uint64_t seed) {
    config.hidden = hidden;
    config.heads = 2;
    config.kv_heads = 1;
    config.head_dim = 8;
    config.head_norm = head_norm;
    Random random(seed);
    const auto matrix = [&](size_t rows, size_t cols) {
      return Matrix{rows, cols, random.vector(rows * cols)};
    };
    attention_norm = matrix(1, hidden);
    q = matrix(16, hidden);
    k = matrix(8, hidden);
    v = matrix(8, hidden);
    q_norm = matrix(1, 8);
    k_norm = matrix(1, 8);
    mlp_norm = matrix(1, hidden);
    gate = matrix(intermediate, hidden);
    up = matrix(intermediate, hidden);
  }
  LayerTensors tensors() const {
    LayerTensors t;
    t.attention_norm = attention_norm.view();
    t.q = q.view();
    t.k = k.view();
    t.v = v.view();
    if (config.head_norm) {
      t.q_norm = q_norm.view();
      t.k_norm = k_norm.view();
    }
    t.mlp_norm = mlp_norm.view();
    t.gate = gate.view();
    t.up = up.view();
    return t;
  }
  LayerExponents exponents() const { return f16_exponents(config, tensors()); }
};

/// The residual stream, of mean square 1, with the largest product of `row` after a norm by `norm`.
std::vector<double> worst_stream(const float* row, const Matrix& norm) {
  std::vector<double> x(norm.cols);
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    // In units of the largest, so that no square is too small.
    x[i] = double{row[i]} * double{norm.values[i]};
    squares = std::max(squares, std::fabs(x[i]));
  }
  if (squares == 0) return x;
  for (double& value : x) value /= squares;
  squares = 0;
  for (const double value : x) squares += value * value;
  for (double& value : x) value *= std::sqrt(static_cast<double>(x.size()) / squares);
  return x;
}

/// The product of row `row` of the matrix with the norm of `x`, both rounded to f16 with their exponents,
/// apart from the exponent of the result. All numbers that are stored must be finite.
double product(const Matrix& matrix, size_t row, const std::vector<double>& x, const Matrix& norm,
               int norm_exponent) {
  const int exponent = cuda::f16_exponent(matrix.view());
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const float act = half(x[i] * double{norm.values[i]}, norm_exponent),
                weight = half(double{matrix.row(row)[i]}, exponent);
    CHECK(std::isfinite(act));
    CHECK(std::isfinite(weight));
    sum += double{act} * double{weight};
  }
  return std::ldexp(sum, exponent + norm_exponent);
}

/// The largest stored number of the products of a matrix, each with its worst residual stream.
double most_stored(const Matrix& matrix, const Matrix& norm, int norm_exponent, int exponent) {
  double most = 0;
  for (size_t row = 0; row < matrix.rows; ++row) {
    const std::vector<double> x = worst_stream(matrix.row(row), norm);
    const double stored = half(std::fabs(product(matrix, row, x, norm, norm_exponent)), exponent);
    most = std::max(most, stored);
  }
  return most;
}

/// That nothing overflows, with what is added to it: the rotation of queries and keys, a mean with weights
/// that were rounded upwards, and SwiGLU for the stream of the gate and for that of up.
void check_block(const Block& b) {
  const LayerExponents e = b.exponents();
  if (!b.config.head_norm) {
    CHECK(std::sqrt(2.0) * most_stored(b.q, b.attention_norm, e.attention_norm, e.query) < 65504);
    CHECK(std::sqrt(2.0) * most_stored(b.k, b.attention_norm, e.attention_norm, e.key) < 65504);
  } else {
    const double most = std::sqrt(static_cast<double>(b.config.head_dim));
    for (const float weight : b.q_norm.values) CHECK(half(most * std::fabs(double{weight}), e.query) < 65504);
    for (const float weight : b.k_norm.values) CHECK(half(most * std::fabs(double{weight}), e.key) < 65504);
  }
  CHECK(2 * most_stored(b.v, b.attention_norm, e.attention_norm, e.value) < 65504);
  for (size_t row = 0; row < b.gate.rows; ++row)
    for (const Matrix* worst : {&b.gate, &b.up}) {
      const std::vector<double> x = worst_stream(worst->row(row), b.mlp_norm);
      const double gate = std::fabs(product(b.gate, row, x, b.mlp_norm, e.mlp_norm)),
                   up = std::fabs(product(b.up, row, x, b.mlp_norm, e.mlp_norm));
      CHECK(double{half(gate * up, e.gated)} < 65504);
    }
}

/// Every number of the matrix becomes `small`, but those of two columns `large` and 0.
void fill(Matrix& matrix, size_t large_column, float large, size_t zero_column, float small) {
  for (size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = i % matrix.cols == large_column  ? large
                       : i % matrix.cols == zero_column ? 0.0f
                                                        : small;
}

/// Where matrices have large numbers the norm is 0, and the other way round. All others are as small as are
/// rounded upwards most, to twice their size.
void double_by_rounding(Block& b) {
  constexpr float kUp = 0x1.04p-25f;  // half of the smallest f16, and a little more
  for (Matrix* norm : {&b.attention_norm, &b.mlp_norm}) {
    fill(*norm, 0, 1.0f, 1, 0.0f);
    const auto cols = static_cast<float>(norm->cols);
    fill(*norm, 0, 1.0f, 1, std::ldexp(kUp, f16_norm_exponent(norm->view())) / std::sqrt(cols / (cols - 2)));
  }
  for (Matrix* matrix : {&b.q, &b.k, &b.v, &b.gate, &b.up})
    fill(*matrix, 1, 0x1p60f, 0, std::ldexp(kUp, 45));  // 2^60 is stored as 2^15
}

}  // namespace

TEST_CASE("f16 weights: what is exact, what is rounded, and that none becomes infinite") {
  std::vector<float> values;
  for (int i = 0; i < 33; ++i) values.push_back(std::ldexp(i % 2 == 0 ? 1.9921875f : -1.0078125f, 50 - i));
  values[0] = std::fabs(values[0]);
  const auto restored = [](float value, int e) { return std::ldexp(double{half(double{value}, e)}, e); };
  for (const DType type : {DType::f32, DType::bf16}) {
    const Stored s = stored(type, values);
    const int e = cuda::f16_exponent({s.data(), type, 1, values.size()});
    for (const float value : values) CHECK(restored(value, e) == value);
    for (const float small : {0x1.02p17f, 0x1.6p14f, 0x1p-20f})
      CHECK(std::fabs(restored(small, e) - small) <= std::ldexp(values[0], -39));
  }
  for (const float largest : {0x1.ffep20f, 0x1.fffp20f, 0x1.fffffep127f, 0x1p-100f, 0x1p-149f, 1.0f}) {
    const int e = cuda::f16_exponent({&largest, DType::f32, 1, 1});
    CHECK(std::isfinite(half(double{largest}, e)));
    CHECK(std::fabs(restored(largest, e) / largest - 1) <= 0x1p-11f);
  }
  const float others[] = {0.5f, kInfinity, -kInfinity, std::nanf("")};
  CHECK(cuda::f16_exponent({others, DType::f32, 1, 4}) == -16);
  const float zero = 0;
  CHECK(cuda::f16_exponent({&zero, DType::f32, 1, 1}) == 0);
  const testing::StoredBlocks blocks = testing::stored_q8_0(Random(3).vector(64, 100.0f));
  CHECK(cuda::f16_exponent({blocks.bytes.data(), WeightType::q8_0, 2, 32}) ==
        cuda::f16_exponent({blocks.value.data(), WeightType::f32, 2, 32}));
  CHECK_THROWS_AS(cuda::f16_scale("x", 128), Error);
  CHECK_THROWS_AS(cuda::f16_scale("x", -127), Error);
}

TEST_CASE("f16 activations: no tokens can make one overflow") {
  const std::pair<const char*, std::function<void(Block&)>> kinds[] = {
      {"random", [](Block&) {}},
      {"outliers in norms",
       [](Block& b) {
         b.attention_norm.values[3] = 900.0f;
         b.mlp_norm.values[5] = -4000.0f;
         b.q_norm.values[1] = b.k_norm.values[7] = 350.0f;
       }},
      {"rows of many sizes",
       [](Block& b) {
         for (Matrix* matrix : {&b.q, &b.k, &b.v, &b.gate, &b.up})
           for (size_t i = 0; i < matrix->values.size(); ++i)
             matrix->values[i] *= std::ldexp(1.0f, static_cast<int>(i / matrix->cols % 30) - 20);
       }},
      {"gate and up alike",
       [](Block& b) {
         b.up.values = b.gate.values;
         for (float& weight : b.up.values) weight *= 3000.0f;
       }},
      {"what is rounded upwards to twice its size", double_by_rounding},
      {"all tiny", [](Block& b) {
         for (Matrix* matrix : {&b.attention_norm, &b.mlp_norm, &b.q, &b.k, &b.v, &b.gate, &b.up})
           for (float& weight : matrix->values) weight *= 0x1p-9f;
       }}};
  for (const auto& [name, change] : kinds)
    for (const bool head_norm : {false, true})
      for (const size_t hidden : {size_t{16}, size_t{200}}) {
        CAPTURE(std::string(name));
        CAPTURE(head_norm);
        CAPTURE(hidden);
        Block block(hidden, 24, head_norm, hidden);
        change(block);
        check_block(block);
      }
}

TEST_CASE("f16 activations: the bounds are reached to within a few bits") {
  Block block(200, 24, false, 9);
  block.up.values = block.gate.values;
  const LayerExponents e = block.exponents();
  CHECK(most_stored(block.v, block.attention_norm, e.attention_norm, e.value) >= 0x1p10);
  CHECK(most_stored(block.q, block.attention_norm, e.attention_norm, e.query) >= 0x1p10);
  double most = 0;
  for (size_t row = 0; row < block.gate.rows; ++row) {
    const double gate = product(block.gate, row, worst_stream(block.gate.row(row), block.mlp_norm),
                                block.mlp_norm, e.mlp_norm);
    most = std::max(most, std::ldexp(gate * gate, -e.gated));
  }
  CHECK(most >= 0x1p9);
}

TEST_CASE("f16 activations: weights without a bound, or with one out of reach, are refused") {
  for (const float bad : {kInfinity, std::nanf(""), 0x1p100f}) {
    Block block(16, 24, false, 4);
    block.attention_norm.values[5] = bad;
    CHECK_THROWS_AS(block.exponents(), Error);
    Block other(16, 24, false, 4);
    other.v.values[20] = bad;
    CHECK_THROWS_AS(other.exponents(), Error);
    Block gated(16, 24, false, 4);
    gated.up.values[20] = bad;
    CHECK_THROWS_AS(gated.exponents(), Error);
  }
  Block zero(16, 24, true, 4);
  for (Matrix* matrix : {&zero.v, &zero.gate, &zero.q_norm})
    std::fill(matrix->values.begin(), matrix->values.end(), 0.0f);
  const LayerExponents e = zero.exponents();
  CHECK(e.value == 0);
  CHECK(e.gated == 0);
  CHECK(e.query == 0);
}

}  // namespace carbon
