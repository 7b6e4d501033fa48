#include "src/sampling/base_scores.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace carbon;

TEST_CASE("only A, C, G and T are scored, each from its place in its 6-mer's row") {
  std::vector<double> rows(2 * ops::kMarginals);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = -static_cast<double>(i);
  std::vector<double> out;
  append_base_logprobs("TTTTTTANcGT", 6, 10, rows, out);  // 6-mer 1: A, N, c, G and no further
  CHECK(out == std::vector<double>{-0.0, -(2 * 4 + 2), -(3 * 4 + 3)});
}

TEST_CASE("the ratio runs over the smaller count") {
  const std::vector<double> alt{-1, -2, -3}, ref{-2, -2};
  CHECK(log_likelihood_ratio(alt, ref) == 1.0);
  CHECK(log_likelihood_ratio(ref, alt) == -1.0);
  CHECK(log_likelihood_ratio({}, ref) == 0.0);
}

TEST_CASE("entropy in nats, and logs that sum to one again") {
  double uniform[4] = {std::log(0.25), std::log(0.25), std::log(0.25), std::log(0.25)};
  CHECK(entropy(uniform) == doctest::Approx(std::log(4.0)));
  const double certain[4] = {0, -1000, -1000, -INFINITY};
  CHECK(entropy(certain) == 0.0);
  double logs[4] = {-900, -901, -902, -903};
  normalise_logs(logs);
  double sum = 0;
  for (const double v : logs) sum += std::exp(v);
  CHECK(sum == doctest::Approx(1.0));
}
