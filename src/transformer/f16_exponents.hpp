// Powers of two that keep every activation of f16 within its range, whatever the tokens are.
//
// A decoder's activations are bounded by its weights. The norm of a row of h numbers has a length of at most
// sqrt(h), so what it is multiplied by gives at most sqrt(h) times the length of (weights of the norm * a row
// of the matrix), by the inequality of Cauchy and Schwarz. Attention gives means of values, and SwiGLU at
// most the product of gate and up. Roundings are allowed for: to f16 a number becomes at most twice as large,
// where it is subnormal, and sums in f32 err by less than their bounds.
//
// An activation is stored as its 2^-exponent-fold, exactly apart from the rounding to f16: the factor is in
// weights of norms and in products (ops::Backend::prepare). No kernel multiplies activations by it.
#pragma once

#include <vector>

#include "kernels/tensor.hpp"
#include "src/model/config.hpp"
#include "src/model/llama_tensors.hpp"

namespace carbon {

/// The exponents of one decoder block. All are 0 in other types than f16.
struct LayerExponents {
  int attention_norm = 0, mlp_norm = 0;  // of what the two norms give
  int query = 0, key = 0;                // after they are rotated
  int value = 0;                         // and so of what attention gives
  int gated = 0;                         // of what SwiGLU gives
};

/// Of a block with these tensors. Throws Error if its weights give no bound or one that f16 cannot serve: one
/// is not finite, or all are far too large or too small.
LayerExponents f16_exponents(const ModelConfig& config, const LayerTensors& tensors);
/// Of what a norm with these weights [1, hidden] gives. Throws Error likewise.
int f16_norm_exponent(const TensorView& weights);
/// Of HiddenRows::act, for the weights of what multiplies it: 0 in other types than f16.
int final_exponent(DType type, const DecoderTensors& tensors);

}  // namespace carbon
