#include "src/sampling/base_scores.hpp"

#include <algorithm>
#include <cmath>

namespace carbon {

void append_base_logprobs(std::string_view sequence, size_t first, size_t end, std::span<const double> rows,
                          std::vector<double>& out) {
  for (size_t i = first; i < end; ++i) {
    const int digit = base_digit(sequence[i]);
    if (digit >= 0) out.push_back(base_logs(rows, i - first)[digit]);
  }
}

double log_likelihood_ratio(std::span<const double> alt, std::span<const double> ref) {
  double sum = 0;
  for (size_t i = 0; i < std::min(alt.size(), ref.size()); ++i) sum += alt[i] - ref[i];
  return sum;
}

double entropy(const double* logs) {
  double probabilities[ops::kLetters];
  for (size_t b = 0; b < ops::kLetters; ++b) probabilities[b] = std::exp(logs[b]);
  return entropy(logs, probabilities);
}

double entropy(const double* logs, const double* probabilities) {
  double sum = 0;
  for (size_t b = 0; b < ops::kLetters; ++b)
    if (probabilities[b] > 0) sum -= probabilities[b] * logs[b];
  return sum;
}

void normalise_logs(double* logs) {
  const double top = std::max({logs[0], logs[1], logs[2], logs[3]});
  double sum = 0;
  for (size_t b = 0; b < ops::kLetters; ++b) sum += std::exp(logs[b] - top);
  const double total = top + std::log(sum);
  for (size_t b = 0; b < ops::kLetters; ++b) logs[b] -= total;
}

}  // namespace carbon
