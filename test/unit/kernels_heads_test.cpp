// marginals(), logits() and logsumexp(): against brute force in double, the published fixture, and hard rows.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

constexpr size_t kKmers = ops::kKmers;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A head of one column: act is {1}, so that the logits are the weights themselves.
std::vector<double> marginals_of(ops::Backend& backend, const std::vector<float>& z) {
  const auto head = backend.prepare({z.data(), DType::f32, kKmers, 1});
  const float one = 1.0f;
  std::vector<double> out(24);
  backend.marginals(&one, 1, *head, out.data());
  return out;
}

/// Every exponential errs by 1.5 ulp and its argument by one rounding of |z - maximum|; the logarithm of a
/// sum of them by as much, twice (group and total). Terms below 2^-126 of the largest add nothing that double
/// would miss.
void check_marginals(const std::vector<double>& got, const std::vector<double>& expected, double range) {
  const double bound = 2 * (3 + range) * 0x1p-23 + 1e-12;
  for (size_t i = 0; i < 24; ++i) CHECK(std::fabs(got[i] - expected[i]) <= bound);
}

}  // namespace

TEST_CASE("marginals of random and of skewed logits agree with brute force") {
  for (const Way& way : ways()) {
    if (way.onednn) continue;
    INFO(way.name());
    const auto backend = way.make(DType::f32);
    Random random(1);
    std::vector<float> z = random.vector(kKmers, 12.0f);
    check_marginals(marginals_of(*backend, z), brute_force(z.data()), 24);
    double sum = 0;
    const std::vector<double> lp = marginals_of(*backend, z);
    for (size_t b = 0; b < 4; ++b) sum += std::exp(lp[4 + b]);
    CHECK(std::fabs(sum - 1) < 1e-14);
    // One logit far above the rest: the other groups underflow in f32 and must still be right.
    z[1234] = 200.0f;
    const std::vector<double> got = marginals_of(*backend, z);
    for (const double v : got) CHECK(std::isfinite(v));
    const std::vector<double> expected = brute_force(z.data());
    for (size_t i = 0; i < 24; ++i) CHECK(std::fabs(got[i] - expected[i]) <= 1e-5);
    std::fill(z.begin(), z.end(), -3e38f);
    z[0] = 3e38f;
    for (const double v : marginals_of(*backend, z)) CHECK(std::isfinite(v));
  }
}

TEST_CASE("a row with a logit that is not finite gets NaN in all places") {
  for (const Way& way : ways()) {
    if (way.onednn) continue;
    const auto backend = way.make(DType::f32);
    for (const float bad :
         {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
      for (const size_t place : {size_t{0}, size_t{77}, kKmers - 1}) {
        std::vector<float> z(kKmers, 0.5f);
        z[place] = bad;
        for (const double v : marginals_of(*backend, z)) CHECK(std::isnan(v));
      }
  }
}

TEST_CASE("marginals of the synthetic logits equal the published fixture") {
  const char* const shared = std::getenv("CARBON_SHARED");
  const std::string path =
      std::string(shared != nullptr ? shared : "../shared") + "/fixtures/fns_golden.json";
  std::ifstream file(path);
  if (!file) {
    MESSAGE("SKIPPED: ", path, " is absent");
    return;
  }
  const nlohmann::json golden = nlohmann::json::parse(file);
  for (const auto& c : golden.at("cases")) {
    const int seed = c.at("seed").get<int>();
    std::vector<float> z(kKmers);
    for (int f = 0; f < static_cast<int>(kKmers); ++f)
      z[static_cast<size_t>(f)] =
          static_cast<float>(4 * std::sin(0.7310 * (f + seed)) + 3 * std::cos(0.0191 * f * (1 + seed % 3)) +
                             (f % 97 == seed % 97 ? 2.5 : 0.0));
    std::vector<double> expected;
    for (const auto& row : c.at("marginals_ATCG"))
      for (const auto& p : row) expected.push_back(std::log(p.get<double>()));
    REQUIRE(expected.size() == 24);
    for (const Way& way : ways()) {
      if (way.onednn) continue;
      INFO(way.name(), " seed ", seed);
      const auto backend = way.make(DType::f32);
      check_marginals(marginals_of(*backend, z), expected, 20);
      const auto head = backend->prepare({z.data(), DType::f32, kKmers, 1});
      const float one = 1.0f;
      const int64_t target = 5;
      double maximum = -kInfinity, sum = 0, logit = 0;
      backend->logsumexp(&one, 1, *head, {&target, 1}, &maximum, &sum, &logit);
      CHECK(std::fabs(maximum + std::log(sum) - c.at("logsumexp").get<double>()) < 23 * 0x1p-23);
      CHECK(logit == static_cast<double>(z[5]));
    }
  }
}

TEST_CASE("the heads give a row the same bits alone, in a batch and on threads") {
  const size_t n = 70, k = 64;
  Random random(4);
  for (const Way& way : ways())
    for (const DType type : {DType::f32, DType::bf16}) {
      if (way.onednn && type != DType::bf16) continue;
      const Stored w = stored(type, random.vector(kKmers * k)), a = stored(type, random.vector(n * k));
      const auto one = way.make(type, 1), two = way.make(type, 2);
      const auto head = one->prepare({w.data(), type, kKmers, k}),
                 head2 = two->prepare({w.data(), type, kKmers, k});
      std::vector<double> all(n * 24), threaded(n * 24);
      one->marginals(a.data(), n, *head, all.data());
      two->marginals(a.data(), n, *head2, threaded.data());
      INFO(way.name(), " ", dtype_name(type));
      CHECK(same_bits(all.data(), threaded.data(), all.size()));
      for (const size_t row : {0, 33, 69}) {
        const char* const act = static_cast<const char*>(a.data()) + row * k * dtype_size(type);
        std::vector<double> alone(24);
        one->marginals(act, 1, *head, alone.data());
        CHECK(same_bits(alone.data(), &all[row * 24], 24));
        std::vector<float> z(kKmers);
        one->logits(act, 1, *head, z.data());
        const std::vector<double> expected = brute_force(z.data());
        check_marginals(alone, expected, 2 * 64);
      }
    }
}

TEST_CASE("logsumexp over slices agrees with one sum in double") {
  const size_t n = 3, k = 40, vocabulary = 5000;
  Random random(6);
  const Stored w = stored(DType::f32, random.vector(vocabulary * k)),
               a = stored(DType::f32, random.vector(n * k, 4.0f));
  for (const Way& way : ways()) {
    if (way.onednn) continue;
    INFO(way.name());
    const auto backend = way.make(DType::f32, 2);
    const TensorView whole{w.data(), DType::f32, vocabulary, k};
    std::vector<float> z(n * vocabulary);
    backend->logits(a.data(), n, *backend->prepare(whole), z.data());
    std::vector<double> maximum(n, -kInfinity), sum(n, 0.0), logit(n, 0.0);
    const std::vector<int64_t> targets{0, 4999, -1};
    size_t begin = 0;
    for (const size_t rows : {4096, 1, 903}) {
      std::vector<int64_t> local;
      for (const int64_t t : targets) local.push_back(t - static_cast<int64_t>(begin));
      backend->logsumexp(a.data(), n, *backend->prepare(whole.slice_rows(begin, rows)), local, maximum.data(),
                         sum.data(), logit.data());
      begin += rows;
    }
    REQUIRE(begin == vocabulary);
    for (size_t i = 0; i < n; ++i) {
      const float* const row = &z[i * vocabulary];
      const double largest = static_cast<double>(*std::max_element(row, row + vocabulary));
      double exact = 0;
      for (size_t j = 0; j < vocabulary; ++j) exact += std::exp(static_cast<double>(row[j]) - largest);
      CHECK(maximum[i] == largest);
      CHECK(std::fabs(std::log(sum[i]) - std::log(exact)) < (3 + 2 * 160) * 0x1p-23);
    }
    CHECK(logit[0] == static_cast<double>(z[0]));
    CHECK(logit[1] == static_cast<double>(z[vocabulary + 4999]));
    CHECK(logit[2] == 0.0);
    const std::vector<float> bad(k, std::nanf(""));
    backend->logsumexp(bad.data(), 1, *backend->prepare(whole), {targets.data(), 1}, maximum.data(),
                       sum.data(), logit.data());
    CHECK(std::isnan(sum[0]));
    CHECK_THROWS_AS(backend->logsumexp(a.data(), n, *backend->prepare(whole), {targets.data(), 1},
                                       maximum.data(), sum.data(), logit.data()),
                    Error);
    CHECK_THROWS_AS(backend->marginals(a.data(), n, *backend->prepare(whole), sum.data()), Error);
  }
}
