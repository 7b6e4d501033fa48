#include "test/reference/llama.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "src/base/system.hpp"
#include "src/base/threads.hpp"

namespace carbon::reference {
namespace {

template <class T>
T element(const TensorView& view, size_t row, size_t col) {
  if (view.dtype == WeightType::q8_0) {
    float block[kQ8Block];
    widen_q8_0(static_cast<const char*>(view.row(row)) + weight_bytes(view.dtype, col), kQ8Block, block);
    return static_cast<T>(block[col % kQ8Block]);
  }
  const char* at = static_cast<const char*>(view.row(row)) + col * dtype_size(view.dtype);
  if (view.dtype == WeightType::f32) {
    float value;
    std::memcpy(&value, at, sizeof value);
    return static_cast<T>(value);
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return static_cast<T>(view.dtype == WeightType::bf16 ? to_float(bf16{bits}) : half_to_float(bits));
}

template <class T>
std::vector<T> row_of(const TensorView& view, size_t row) {
  std::vector<T> out(view.cols);
  for (size_t j = 0; j < view.cols; ++j) out[j] = element<T>(view, row, j);
  return out;
}

ThreadPool& pool() {
  static ThreadPool pool(available_cpus());
  return pool;
}

/// Every row of x times rows [first, first + count) of w. Each row of w is read once, for all rows of x.
template <class T>
Matrix<T> products(const TensorView& w, const Matrix<T>& x, size_t first, size_t count) {
  Matrix<T> out(x.size(), std::vector<T>(count));
  constexpr size_t kWorthThreads = size_t{1} << 20;
  const auto row = [&](size_t i, size_t) {
    const std::vector<T> weights = row_of<T>(w, first + i);
    for (size_t t = 0; t < x.size(); ++t) {
      T sum = 0;
      for (size_t k = 0; k < w.cols; ++k) sum += weights[k] * x[t][k];
      out[t][i] = sum;
    }
  };
  if (x.size() * count * w.cols > kWorthThreads)
    pool().run(count, row);
  else
    for (size_t i = 0; i < count; ++i) row(i, 0);
  return out;
}

template <class T>
std::vector<T> rms_norm(const std::vector<T>& x, const TensorView& weight, T eps) {
  T squares = 0;
  for (const T v : x) squares += v * v;
  const T scale = 1 / std::sqrt(squares / static_cast<T>(x.size()) + eps);
  std::vector<T> out(x.size());
  for (size_t j = 0; j < x.size(); ++j) out[j] = x[j] * scale * element<T>(weight, 0, j);
  return out;
}

/// An RMSNorm of every head of a projection, by the same weights.
template <class T>
void norm_heads(std::vector<T>& heads, size_t head_dim, const TensorView& weight, T eps) {
  for (auto head = heads.begin(); head != heads.end(); head += static_cast<ptrdiff_t>(head_dim)) {
    const auto end = head + static_cast<ptrdiff_t>(head_dim);
    std::ranges::copy(rms_norm(std::vector<T>(head, end), weight, eps), head);
  }
}

// Rotate-half layout on every head of a projection; angles in double whatever T is.
template <class T>
void rotate(std::vector<T>& heads, size_t head_dim, const std::vector<double>& inv_freq, double scale,
            size_t position) {
  const size_t half = head_dim / 2;
  for (size_t h = 0; h < heads.size(); h += head_dim) {
    for (size_t j = 0; j < half; ++j) {
      const double angle = static_cast<double>(position) * inv_freq[j];
      const T c = static_cast<T>(std::cos(angle) * scale), s = static_cast<T>(std::sin(angle) * scale);
      const T a = heads[h + j], b = heads[h + half + j];
      heads[h + j] = a * c - b * s;
      heads[h + half + j] = b * c + a * s;
    }
  }
}

/// The attention of a row, which sees the first `seen` keys.
template <class T>
std::vector<T> attend(const ModelConfig& c, const std::vector<T>& q, const Matrix<T>& keys,
                      const Matrix<T>& values, size_t seen) {
  const size_t d = c.head_dim, group = c.heads / c.kv_heads;
  std::vector<T> out(c.heads * d, T(0));
  for (size_t h = 0; h < c.heads; ++h) {
    const size_t kv = h / group * d;
    std::vector<T> weights;
    T top = -std::numeric_limits<T>::infinity(), sum = 0;
    for (size_t t = 0; t < seen; ++t) {
      T score = 0;
      for (size_t j = 0; j < d; ++j) score += q[h * d + j] * keys[t][kv + j];
      weights.push_back(score / std::sqrt(static_cast<T>(d)));
      top = std::max(top, weights.back());
    }
    for (T& w : weights) sum += w = std::exp(w - top);
    for (size_t t = 0; t < seen; ++t)
      for (size_t j = 0; j < d; ++j) out[h * d + j] += weights[t] / sum * values[t][kv + j];
  }
  return out;
}

template <class T>
void add(Matrix<T>& x, const Matrix<T>& delta) {
  for (size_t t = 0; t < x.size(); ++t)
    for (size_t j = 0; j < x[t].size(); ++j) x[t][j] += delta[t][j];
}

}  // namespace

template <class T>
Matrix<T> residual_stream(const Checkpoint& checkpoint, const std::vector<uint32_t>& tokens, size_t blocks) {
  const ModelConfig& c = checkpoint.config();
  const std::vector<double> inv_freq = rope_inv_freq(c);
  const double rope_scale = rope_attention_factor(c);
  Matrix<T> x;
  for (const uint32_t token : tokens) x.push_back(row_of<T>(checkpoint.embedding(), token));
  for (size_t layer = 0; layer < blocks; ++layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const auto tensor = [&](const std::string& name, size_t rows, size_t cols) {
      return checkpoint.tensor(prefix + name + ".weight", rows, cols);
    };
    const auto project = [&](const std::string& name, size_t rows, const Matrix<T>& input) {
      return products(tensor(name, rows, input[0].size()), input, 0, rows);
    };
    const auto normed = [&](const std::string& name) {
      Matrix<T> rows;
      for (const auto& row : x) rows.push_back(rms_norm(row, tensor(name, 1, c.hidden), T(c.rms_eps)));
      return rows;
    };
    const size_t q_width = c.heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
    Matrix<T> h = normed("input_layernorm");
    Matrix<T> queries = project("self_attn.q_proj", q_width, h),
              keys = project("self_attn.k_proj", kv_width, h);
    const Matrix<T> values = project("self_attn.v_proj", kv_width, h);
    for (size_t t = 0; t < x.size(); ++t) {
      if (c.head_norm) {
        norm_heads(queries[t], c.head_dim, tensor("self_attn.q_norm", 1, c.head_dim), T(c.rms_eps));
        norm_heads(keys[t], c.head_dim, tensor("self_attn.k_norm", 1, c.head_dim), T(c.rms_eps));
      }
      rotate(queries[t], c.head_dim, inv_freq, rope_scale, t);
      rotate(keys[t], c.head_dim, inv_freq, rope_scale, t);
    }
    Matrix<T> attended;
    for (size_t t = 0; t < x.size(); ++t)
      attended.push_back(attend(c, queries[t], keys, values, c.annotator ? x.size() : t + 1));
    add(x, project("self_attn.o_proj", c.hidden, attended));

    h = normed("post_attention_layernorm");
    Matrix<T> gate = project("mlp.gate_proj", c.intermediate, h);
    const Matrix<T> up = project("mlp.up_proj", c.intermediate, h);
    for (size_t t = 0; t < x.size(); ++t)
      for (size_t j = 0; j < c.intermediate; ++j) gate[t][j] *= up[t][j] / (1 + std::exp(-gate[t][j]));
    add(x, project("mlp.down_proj", c.hidden, gate));
  }
  return x;
}

template Matrix<float> residual_stream(const Checkpoint&, const std::vector<uint32_t>&, size_t);
template Matrix<double> residual_stream(const Checkpoint&, const std::vector<uint32_t>&, size_t);

template <class T>
Matrix<T> hidden_states(const Checkpoint& checkpoint, const std::vector<uint32_t>& tokens) {
  const ModelConfig& c = checkpoint.config();
  Matrix<T> x = residual_stream<T>(checkpoint, tokens, c.layers);
  for (auto& row : x) row = rms_norm(row, checkpoint.tensor("model.norm.weight", 1, c.hidden), T(c.rms_eps));
  return x;
}

template Matrix<float> hidden_states(const Checkpoint&, const std::vector<uint32_t>&);
template Matrix<double> hidden_states(const Checkpoint&, const std::vector<uint32_t>&);

template <class T>
std::vector<T> logits(const Checkpoint& checkpoint, const std::vector<T>& row, size_t first, size_t count) {
  return products(checkpoint.head(), Matrix<T>{row}, first, count)[0];
}

template <class T>
std::vector<T> class_logits(const Checkpoint& checkpoint, const std::vector<T>& row) {
  const ModelConfig& c = checkpoint.config();
  std::vector<T> all;
  for (const char* strand : {"score.0", "score.1"}) {
    Matrix<T> x = {row};
    std::string last = ".weight";
    if (c.annotator->hidden_layer) {
      last = ".3.weight";
      const std::vector<T> biases =
          row_of<T>(checkpoint.tensor(strand + std::string(".0.bias"), 1, c.hidden), 0);
      x = products(checkpoint.tensor(strand + std::string(".0.weight"), c.hidden, c.hidden), x, 0, c.hidden);
      for (size_t j = 0; j < c.hidden; ++j) {
        const T y = x[0][j] + biases[j];
        x[0][j] = y / 2 * (1 + std::erf(y / std::sqrt(T(2))));
      }
    }
    const std::vector<T> z = products(checkpoint.tensor(strand + last, 12, c.hidden), x, 0, 12)[0];
    all.insert(all.end(), z.begin(), z.end());
  }
  return all;
}

template std::vector<float> class_logits(const Checkpoint&, const std::vector<float>&);
template std::vector<double> class_logits(const Checkpoint&, const std::vector<double>&);

template <class T>
std::vector<double> marginals(const Checkpoint& checkpoint, const std::vector<T>& row) {
  const std::vector<T> z = logits(checkpoint, row, checkpoint.config().layout.kmer0(), 4096);
  double top = -INFINITY, total = 0;
  for (const double v : z) top = std::max(top, v);
  std::vector<double> sums(24, 0.0);
  for (size_t f = 0; f < 4096; ++f) {
    const double p = std::exp(z[f] - top);
    total += p;
    for (size_t j = 0; j < 6; ++j) sums[j * 4 + ((f >> (2 * (5 - j))) & 3)] += p;
  }
  for (double& s : sums) s = std::log(s / total);
  return sums;
}

template <class T>
double token_logprob(const Checkpoint& checkpoint, const std::vector<T>& row, uint32_t target) {
  const std::vector<T> z = logits(checkpoint, row, 0, checkpoint.config().vocab);
  double top = -INFINITY, total = 0;
  for (const double v : z) top = std::max(top, v);
  for (const double v : z) total += std::exp(v - top);
  return z[target] - top - std::log(total);
}

template std::vector<float> logits(const Checkpoint&, const std::vector<float>&, size_t, size_t);
template std::vector<double> logits(const Checkpoint&, const std::vector<double>&, size_t, size_t);
template std::vector<double> marginals(const Checkpoint&, const std::vector<float>&);
template std::vector<double> marginals(const Checkpoint&, const std::vector<double>&);
template double token_logprob(const Checkpoint&, const std::vector<float>&, uint32_t);
template double token_logprob(const Checkpoint&, const std::vector<double>&, uint32_t);

}  // namespace carbon::reference
