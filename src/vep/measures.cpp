#include "src/vep/measures.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/ops.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Sums of a row, which are added up in pairs: so many that the compiler can use vectors.
constexpr size_t kLanes = 8;

double squared_distance(const float* a, const float* b, size_t width) {
  double lanes[kLanes] = {};
  for (size_t i = 0; i < width; i += kLanes)
    for (size_t lane = 0; lane < std::min(kLanes, width - i); ++lane) {
      const auto difference = static_cast<double>(a[i + lane] - b[i + lane]);
      lanes[lane] += difference * difference;
    }
  for (size_t step = kLanes / 2; step > 0; step /= 2)
    for (size_t lane = 0; lane < step; ++lane) lanes[lane] += lanes[lane + step];
  return lanes[0];
}

// (1 + d) ln(1 + d) + (1 - d) ln(1 - d) with d = tanh(x / 2). Where d is small, these two nearly cancel; the
// same is then x d + ln(1 - d d). Neither is below 0.
double divergence_term(double x) {
  const double d = std::tanh(x / 2);
  if (std::fabs(d) < 0.5) return x * d + std::log1p(-d * d);
  const auto part = [](double e) { return e <= -1 ? 0 : (1 + e) * std::log1p(e); };
  return part(d) + part(-d);
}

// Of the distributions P and Q of one base: the sum over letters of (P + Q) / 4 times the term of
// d = (P - Q) / (P + Q).
double divergence_of_base(const double* p, const double* q) {
  double sum = 0;
  for (size_t letter = 0; letter < ops::kLetters; ++letter)
    sum += (std::exp(p[letter]) + std::exp(q[letter])) / 4 * divergence_term(p[letter] - q[letter]);
  return sum;
}

}  // namespace

std::optional<size_t> first_other_token(std::string_view a, std::string_view b, size_t k, size_t from) {
  for (size_t token = from; (token + 1) * k <= std::min(a.size(), b.size()); ++token)
    if (kmer_index(a.substr(token * k, k), k) != kmer_index(b.substr(token * k, k), k)) return token;
  return std::nullopt;
}

double state_distance(std::span<const float> a, std::span<const float> b, size_t width) {
  double sum = 0;
  for (size_t at = 0; at < a.size(); at += width) sum += squared_distance(&a[at], &b[at], width);
  return std::sqrt(sum);
}

double divergence(std::span<const double> p, std::span<const double> q, std::string_view bases) {
  double sum = 0;
  for (size_t i = 0; i < bases.size(); ++i)
    if (base_digit(bases[i]) >= 0) sum += divergence_of_base(&p[i * ops::kLetters], &q[i * ops::kLetters]);
  return sum;
}

std::vector<float> mean_state(std::span<const float> states, size_t width) {
  std::vector<double> sums(width);
  for (size_t at = 0; at < states.size(); at += width)
    for (size_t i = 0; i < width; ++i) sums[i] += static_cast<double>(states[at + i]);
  const auto rows = static_cast<double>(states.size() / width);
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / rows));
  return mean;
}

}  // namespace carbon
