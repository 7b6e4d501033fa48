#include "src/transformer/head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "src/base/error.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/tensor_file.hpp"
#include "src/transformer/f16_exponents.hpp"

namespace carbon {
namespace {
// Rows of a vocabulary slice. Fixed: the log-sum-exp is taken slice by slice, so this is part of its
// reduction order.
constexpr size_t kSliceRows = 4096;

// The rows of the k-mers in the order of their indices.
std::vector<TensorView> kmer_rows(const TensorView& matrix, const TokenLayout& layout) {
  if (!layout.letters) return {matrix.slice_rows(layout.kmer0(), layout.kmers())};
  std::vector<TensorView> rows;
  for (size_t i = 0; i < layout.kmers(); ++i) rows.push_back(matrix.slice_rows(layout.kmer_id(i), 1));
  return rows;
}

// Turns the four logits of each row into natural logs of their softmax, NaN where one is not finite.
void letter_logs(std::span<const float> logits, double* out) {
  for (size_t at = 0; at < logits.size(); at += ops::kLetters) {
    const std::span<const float> z = logits.subspan(at, ops::kLetters);
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    bool finite = true;
    for (const float logit : z) {
      finite = finite && std::isfinite(logit);
      top = std::max(top, static_cast<double>(logit));
    }
    for (const float logit : z) sum += std::exp(static_cast<double>(logit) - top);
    for (size_t b = 0; b < z.size(); ++b)
      out[at + b] = finite ? static_cast<double>(z[b]) - (top + std::log(sum))
                           : std::numeric_limits<double>::quiet_NaN();
  }
}

// A matrix of a head of labels as f32 [cols, rows].
std::vector<float> by_columns(const Checkpoint& checkpoint, const std::string& name,
                              const TensorView& matrix) {
  std::vector<float> by_column(matrix.rows * matrix.cols), row(matrix.cols);
  for (size_t label = 0; label < matrix.rows; ++label) {
    widen_row(matrix, label, row.data());
    for (size_t i = 0; i < row.size(); ++i) {
      if (!std::isfinite(row[i]))
        throw Error("load_checkpoint", checkpoint.dir() + ": " + name + " has a number in row " +
                                           std::to_string(label) + ", column " + std::to_string(i) +
                                           " that is not finite; the training has failed");
      by_column[i * matrix.rows + label] = row[i];
    }
  }
  return by_column;
}

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

// Of AnnotatorHead: rows of a task, and what is summed at a time.
constexpr size_t kHeadRows = 16, kSumRows = 8, kSumColumns = 64;

// out [rows, n] = x [rows, k] . w [k, n], for at most kSumRows rows; sums from the first of k to the last.
void multiply_few(const float* x, size_t rows, size_t k, const float* w, size_t n, float* out) {
  for (size_t column = 0; column < n; column += kSumColumns) {
    const size_t width = std::min(kSumColumns, n - column);
    float sums[kSumRows][kSumColumns] = {};
    for (size_t i = 0; i < k; ++i)
      for (size_t r = 0; r < rows; ++r) {
        const float factor = x[r * k + i];
        const float* const from = w + i * n + column;
        for (size_t j = 0; j < width; ++j) sums[r][j] += factor * from[j];
      }
    for (size_t r = 0; r < rows; ++r) std::copy_n(sums[r], width, out + r * n + column);
  }
}

}  // namespace

Head::Head(ops::Backend& backend, const Checkpoint& checkpoint) : backend_(backend) {
  if (!checkpoint.config().has_output_matrix()) return;
  const TokenLayout& layout = checkpoint.config().layout;
  matrix_ = checkpoint.head();
  exponent_ = final_exponent(backend.dtype(), decoder_tensors(checkpoint));
  const std::vector<TensorView> rows = kmer_rows(matrix_, layout);
  kmers_ = backend.prepare(rows, std::vector<int>(rows.size(), exponent_));
}

const ops::Weight& Head::kmers() const {
  if (!kmers_) throw Error("head", "the model has no output matrix, and so no probabilities of bases");
  return *kmers_;
}

void Head::marginals(const HiddenRows& rows, double* out) {
  if (kmer_count() == ops::kKmers)
    return backend_.marginals(rows.act, rows.count, kmers(), out, rows.row_class);
  std::vector<float> logits(rows.count * kmer_count());
  kmer_logits(rows, logits.data());
  letter_logs(logits, out);
}

void Head::conditionals(const HiddenRows& rows, std::span<const ops::KnownBases> known, double* out) {
  // A letter that is a token has none before it in the token.
  if (kmer_count() != ops::kKmers) return marginals(rows, out);
  backend_.conditionals(rows.act, rows.count, kmers(), known, out, rows.row_class);
}

void Head::kmer_logits(const HiddenRows& rows, float* out) {
  backend_.logits(rows.act, rows.count, kmers(), out, rows.row_class);
}

void Head::kmer_logits_on_device(const HiddenRows& rows, float* out) {
  backend_.linear(rows.act, rows.count, kmers(), out, kmer_count(), rows.row_class);
}

void Head::token_logprob(const HiddenRows& rows, std::span<const uint32_t> targets, double* out) {
  kmers();
  if (slices_.empty())
    for (size_t first = 0; first < matrix_.rows; first += kSliceRows)
      slices_.push_back(
          backend_.prepare(matrix_.slice_rows(first, std::min(kSliceRows, matrix_.rows - first)), exponent_));

  const size_t n = rows.count;
  std::vector<double> maximum(n, -std::numeric_limits<double>::infinity()), sum(n, 0.0), logit(n, 0.0);
  std::vector<int64_t> local(n);
  for (size_t s = 0; s < slices_.size(); ++s) {
    for (size_t i = 0; i < n; ++i)
      local[i] = static_cast<int64_t>(targets[i]) - static_cast<int64_t>(s * kSliceRows);
    backend_.logsumexp(rows.act, n, *slices_[s], local, maximum.data(), sum.data(), logit.data(),
                       rows.row_class);
  }
  for (size_t i = 0; i < n; ++i) out[i] = logit[i] - (maximum[i] + std::log(sum[i]));
}

ClassificationHead::ClassificationHead(const Checkpoint& checkpoint)
    : labels_(checkpoint.score().rows), by_column_(by_columns(checkpoint, kScore, checkpoint.score())) {}

AnnotatorHead::AnnotatorHead(const Checkpoint& checkpoint)
    : hidden_(checkpoint.config().hidden),
      outputs_(checkpoint.config().layout.bases() * AnnotatorConfig::kClasses) {
  const bool layer = checkpoint.config().annotator->hidden_layer;
  for (size_t strand = 0; strand < AnnotatorConfig::kStrands; ++strand) {
    const auto read = [&](const char* part, size_t rows) {
      const std::string name = head_tensor(strand, part);
      return by_columns(checkpoint, name, checkpoint.tensor(name, rows, hidden_));
    };
    OneHead& head = heads_.emplace_back();
    head.last = read(layer ? kLastMatrix : kHeadMatrix, outputs_);
    if (!layer) continue;
    head.hidden = read(kHiddenMatrix, hidden_);
    head.biases = read(kHiddenBias, 1);
  }
}

void AnnotatorHead::logits(std::span<const float> states, ThreadPool& pool, float* out) const {
  const size_t rows = states.size() / hidden_;
  pool.run((rows + kHeadRows - 1) / kHeadRows, [&](size_t task, size_t) {
    const size_t first = task * kHeadRows, end = std::min(rows, first + kHeadRows);
    for (size_t row = first; row < end; row += kSumRows)
      for (size_t strand = 0; strand < heads_.size(); ++strand)
        head_logits(heads_[strand], states.data() + row * hidden_, std::min(kSumRows, end - row),
                    out + row * width() + strand * outputs_);
  });
}

// Of at most kSumRows rows.
void AnnotatorHead::head_logits(const OneHead& head, const float* states, size_t rows, float* out) const {
  std::vector<float> layer;
  if (!head.hidden.empty()) {
    layer.resize(rows * hidden_);
    multiply_few(states, rows, hidden_, head.hidden.data(), hidden_, layer.data());
    for (size_t i = 0; i < layer.size(); ++i)
      layer[i] = static_cast<float>(gelu(double{layer[i]} + double{head.biases[i % hidden_]}));
    states = layer.data();
  }
  std::vector<double> sums(outputs_);
  for (size_t row = 0; row < rows; ++row) {
    std::fill(sums.begin(), sums.end(), 0.0);
    const float* weight = head.last.data();
    for (size_t i = 0; i < hidden_; ++i)
      for (double& sum : sums) sum += double{states[row * hidden_ + i]} * double{*weight++};
    for (size_t j = 0; j < outputs_; ++j) out[row * width() + j] = static_cast<float>(sums[j]);
  }
}

std::vector<double> ClassificationHead::values(std::span<const float> state) const {
  std::vector<double> sums(labels_, 0.0);
  const float* weight = by_column_.data();
  for (const float number : state)
    for (double& sum : sums) sum += double{number} * double{*weight++};
  return sums;
}

}  // namespace carbon
