#include "src/transformer/f16_exponents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "src/base/error.hpp"
#include "src/model/tensor_file.hpp"

namespace carbon {
namespace {

constexpr int kTop = 15;   // numbers of at most 2^15 are far from overflow in f16
constexpr int kMost = 60;  // two exponents and that of a weight make a scale that f32 has
// How much larger than its bound a computed number may be: after one rounding to f16; a product of two
// rounded factors; a mean of such products with rounded weights; and two such products multiplied.
constexpr double kRounded = 2, kProduct = 4, kMean = 8, kGated = 16;

/// The least e such that numbers of at most `bound` are stored as at most 2^15 by 2^-e.
int exponent_for(double bound) {
  if (bound == 0) return 0;
  int exponent = 0;
  if (std::isfinite(bound)) std::frexp(bound, &exponent);
  exponent -= kTop;
  if (!std::isfinite(bound) || std::abs(exponent) > kMost)
    throw Error("f16", "the weights of the model allow for numbers that f16 cannot hold",
                {"use {--dtype} bf16 or f32"});
  return exponent;
}

std::vector<float> vector_of(const TensorView& view) {
  std::vector<float> values(view.cols);
  widen_row(view, 0, values.data());
  return values;
}

/// The largest absolute value; NaN if there is one.
template <class Numbers>
double largest(const Numbers& numbers) {
  double most = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) return number;
    most = std::max(most, std::fabs(number));
  }
  return most;
}

/// For each row of the matrix, the bound of its product with the norm of a row by `norm`.
std::vector<double> product_bounds(const TensorView& matrix, const std::vector<float>& norm) {
  std::vector<double> bounds(matrix.rows);
  std::vector<float> row(matrix.cols);
  for (size_t i = 0; i < matrix.rows; ++i) {
    widen_row(matrix, i, row.data());
    std::array<double, 8> squares{};  // several sums, which a processor adds to at the same time
    for (size_t j = 0; j < row.size(); ++j) {
      const double product = double{row[j]} * double{norm[j]};
      squares[j % squares.size()] += product * product;
    }
    double sum = 0;
    for (const double some : squares) sum += some;
    bounds[i] = std::sqrt(static_cast<double>(matrix.cols) * sum);
  }
  return bounds;
}

/// Of queries or keys after they are rotated: two numbers of a head become those of the same length, times
/// `factor`.
double rotated_bound(const TensorView& matrix, const std::vector<float>& norm, const TensorView& head_norm,
                     bool has_head_norm, double factor) {
  if (has_head_norm)
    return kRounded * factor * std::sqrt(static_cast<double>(head_norm.cols)) * largest(vector_of(head_norm));
  return kProduct * factor * std::sqrt(2.0) * largest(product_bounds(matrix, norm));
}

}  // namespace

int f16_norm_exponent(const TensorView& weights) {
  return exponent_for(kRounded * std::sqrt(static_cast<double>(weights.cols)) * largest(vector_of(weights)));
}

int final_exponent(DType type, const DecoderTensors& tensors) {
  return type == DType::f16 ? f16_norm_exponent(tensors.final_norm) : 0;
}

LayerExponents f16_exponents(const ModelConfig& config, const LayerTensors& tensors) {
  const std::vector<float> before_attention = vector_of(tensors.attention_norm),
                           before_mlp = vector_of(tensors.mlp_norm);
  const double factor = std::fabs(rope_attention_factor(config));
  const auto rotated = [&](const TensorView& matrix, const TensorView& head_norm) {
    return exponent_for(rotated_bound(matrix, before_attention, head_norm, config.head_norm, factor));
  };
  const std::vector<double> gate = product_bounds(tensors.gate, before_mlp),
                            up = product_bounds(tensors.up, before_mlp);
  std::vector<double> gated(gate.size());
  std::transform(gate.begin(), gate.end(), up.begin(), gated.begin(),
                 [](double a, double b) { return a * b; });
  return {f16_norm_exponent(tensors.attention_norm),
          f16_norm_exponent(tensors.mlp_norm),
          rotated(tensors.q, tensors.q_norm),
          rotated(tensors.k, tensors.k_norm),
          exponent_for(kMean * largest(product_bounds(tensors.v, before_attention))),
          exponent_for(kGated * largest(gated))};
}

}  // namespace carbon
