// The choice of how many 6-mers to draft, on made-up acceptances and costs.
#include "src/engine/drafter.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace carbon;

namespace {

/// Runs the policy against a draft that is accepted with probability `a` and steps that cost `c` of a target
/// step; `per_token` is what a further token of a chunk adds to the target's time. Returns the k it settles
/// on.
size_t settled(double a, double c, double per_token, size_t rounds, DraftPolicy& policy) {
  size_t k = 0;
  for (size_t i = 0; i < rounds && !policy.off(); ++i) {
    k = policy.next();
    // The numbers that 1,000 rows would have on average.
    const double accepted = 1000 * (DraftPolicy::expected(a, k) - 1);
    const double tested = k == 0 ? 0 : 1000 * DraftPolicy::expected(a, k - 1);
    const auto n = static_cast<double>(k);
    policy.record(
        {k, 1000, static_cast<uint64_t>(tested), static_cast<uint64_t>(accepted), c * n, 1 + per_token * n});
  }
  return policy.off() ? 0 : k;
}

}  // namespace

TEST_CASE("6-mers a round as in the formula") {
  CHECK(DraftPolicy::expected(0, 5) == 1);
  CHECK(DraftPolicy::expected(1, 5) == 6);
  CHECK(DraftPolicy::expected(0.87, 5) == doctest::Approx((1 - std::pow(0.87, 6)) / (1 - 0.87)));
}

TEST_CASE("a fixed number stays") {
  DraftPolicy policy(4);
  CHECK(settled(0.0, 10, 0, 500, policy) == 4);
  CHECK_FALSE(policy.off());
}

TEST_CASE("auto finds the best number or gives up") {
  // The best k and the speed-up of the table for draft steps of 0.128 and 0.055 of a target step.
  struct Case {
    double a, c;
    size_t best;
  };
  for (const Case& x : {Case{0.6, 0.128, 3}, Case{0.8, 0.128, 5}, Case{0.87, 0.128, 7}, Case{0.6, 0.055, 4},
                        Case{0.87, 0.055, 11}}) {
    DraftPolicy policy(std::nullopt);
    const size_t k = settled(x.a, x.c, 0, 100, policy);
    CAPTURE(x.a);
    CAPTURE(x.c);
    CHECK(k == x.best);
    CHECK(policy.acceptance() == doctest::Approx(x.a).epsilon(0.01));
  }
  for (const auto& [a, c, per_token] : {std::array{0.0, 0.1, 0.0}, std::array{0.5, 0.9, 0.0},
                                        std::array{0.9, 0.1, 1.0}, std::array{1.0, 1.0, 0.1}}) {
    DraftPolicy policy(std::nullopt);
    settled(a, c, per_token, 100, policy);
    CHECK(policy.off());
    CHECK(policy.next() == 0);
  }
}

TEST_CASE("auto measures again when the number of rows changes, and now and then") {
  DraftPolicy policy(std::nullopt);
  settled(0.8, 0.1, 0, 100, policy);
  CHECK(policy.next() > 1);
  policy.record({5, 600, 600, 300, 0.5, 1.0});
  CHECK(policy.next() == 0);  // the first of the measuring rounds
  size_t measuring = 0;
  for (size_t i = 0; i < 600; ++i) {
    measuring += policy.next() == 0;
    const size_t k = policy.next();
    policy.record(
        {k, 600, k > 0 ? uint64_t{1000} : 0, k > 0 ? uint64_t{800} : 0, 0.1 * static_cast<double>(k), 1.0});
  }
  CHECK(measuring > 3);
  CHECK(measuring < 20);
}
