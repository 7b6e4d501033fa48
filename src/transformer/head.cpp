#include "src/transformer/head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "src/base/error.hpp"
#include "src/model/tensor_file.hpp"

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

}  // namespace

Head::Head(ops::Backend& backend, const Checkpoint& checkpoint) : backend_(backend) {
  if (checkpoint.config().classifier) return;
  const TokenLayout& layout = checkpoint.config().layout;
  matrix_ = checkpoint.head();
  kmers_ = backend.prepare(kmer_rows(matrix_, layout));
}

const ops::Weight& Head::kmers() const {
  if (!kmers_) throw Error("head", "the model has a classification head, and no probabilities of bases");
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
          backend_.prepare(matrix_.slice_rows(first, std::min(kSliceRows, matrix_.rows - first))));

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

ClassificationHead::ClassificationHead(const Checkpoint& checkpoint) {
  const TensorView matrix = checkpoint.score();
  labels_ = matrix.rows;
  by_column_.resize(matrix.rows * matrix.cols);
  std::vector<float> row(matrix.cols);
  for (size_t label = 0; label < labels_; ++label) {
    widen_row(matrix, label, row.data());
    for (size_t i = 0; i < row.size(); ++i) {
      if (!std::isfinite(row[i]))
        throw Error("load_checkpoint", checkpoint.dir() + ": " + kScore + " has a number in row " +
                                           std::to_string(label) + ", column " + std::to_string(i) +
                                           " that is not finite; the training has failed");
      by_column_[i * labels_ + label] = row[i];
    }
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
