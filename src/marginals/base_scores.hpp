// From rows of FNS marginals to per-base log-probabilities.
//
// A row is 24 natural logs [6, 4], letters in the order A, T, C, G: what the model says of the six bases of
// the next 6-mer. Row i of a window speaks of its bases [6i, 6i + 6).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/ops.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The four logs of base `j` of a row.
inline const double* base_row(const double* rows, size_t row, size_t j) {
  return rows + row * ops::kMarginals + j * ops::kLetters;
}

/// Appends to `out` the log-probability of every A, C, G or T of sequence[6 * first_kmer, end) in order;
/// other letters have none. rows[0] speaks of 6-mer `first_kmer`; as many rows as 6-mers from there to `end`,
/// the last may be partial.
void append_base_logprobs(std::string_view sequence, size_t first_kmer, size_t end,
                          std::span<const double> rows, std::vector<double>& out);

/// Sum over the first n values of alt[i] - ref[i], n = the smaller count: the log-likelihood ratio in nats.
/// Terms that are equal on both sides add an exact zero, so leaving out a common beginning does not change a
/// bit.
double log_likelihood_ratio(std::span<const double> alt, std::span<const double> ref);

/// -sum p ln p in nats of the four probabilities with these logs.
double entropy(const double* logs);

/// Subtracts ln sum exp, so that the four are logs of probabilities again.
void normalise_logs(double* logs);

}  // namespace carbon
