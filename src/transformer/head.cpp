#include "src/transformer/head.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/error.hpp"

namespace carbon {
namespace {
// Rows of a vocabulary slice. Fixed: the log-sum-exp is taken slice by slice, so this is part of its
// reduction order.
constexpr size_t kSliceRows = 4096;
}  // namespace

Head::Head(ops::Backend& backend, const Checkpoint& checkpoint) : backend_(backend) {
  if (checkpoint.config().classifier) return;
  const TokenLayout& layout = checkpoint.config().layout;
  matrix_ = checkpoint.head();
  kmers_ = backend.prepare(matrix_.slice_rows(layout.kmer0(), layout.kmers()));
}

const ops::Weight& Head::kmers() const {
  if (!kmers_) throw Error("head", "the model has a classification head, and no probabilities of bases");
  return *kmers_;
}

void Head::marginals(const HiddenRows& rows, double* out) {
  backend_.marginals(rows.act, rows.count, kmers(), out, rows.row_class);
}

void Head::conditionals(const HiddenRows& rows, std::span<const ops::KnownBases> known, double* out) {
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

}  // namespace carbon
