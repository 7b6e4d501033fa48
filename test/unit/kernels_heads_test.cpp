// marginals(), conditionals(), logits() and logsumexp(): against brute force in double, the published
// fixture, and hard rows.
#include <algorithm>
#include <bit>
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

/// The backends of all ways, with their names.
std::vector<std::pair<std::string, std::unique_ptr<ops::Backend>>> backends() {
  std::vector<std::pair<std::string, std::unique_ptr<ops::Backend>>> all;
  for (const Way& way : ways()) all.emplace_back(way.name(), way.make(DType::f32));
  return all;
}

std::vector<double> conditionals_of(ops::Backend& backend, const std::vector<float>& z,
                                    ops::KnownBases known) {
  const auto head = backend.prepare({z.data(), DType::f32, kKmers, 1});
  const float one = 1.0f;
  std::vector<double> out(24);
  backend.conditionals(&one, 1, *head, {&known, 1}, out.data());
  return out;
}

/// `range` as for marginal_bound().
void check_marginals(const std::vector<double>& got, const std::vector<double>& expected, double range) {
  for (size_t i = 0; i < 24; ++i) CHECK(std::fabs(got[i] - expected[i]) <= marginal_bound(range));
}

/// The four of a base add up to 1, except for the rounding of 4,096 additions in double.
void check_sums(const std::vector<double>& logs) {
  for (size_t j = 0; j < 6; ++j) {
    double sum = 0;
    for (size_t b = 0; b < 4; ++b) sum += std::exp(logs[j * 4 + b]);
    CHECK(std::fabs(sum - 1) < 1e-12);
  }
}

}  // namespace

TEST_CASE("marginals of random and of skewed logits agree with brute force") {
  for (const Way& way : ways()) {
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
    const auto backend = way.make(DType::f32);
    for (const float bad :
         {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()})
      for (const size_t place : {size_t{0}, size_t{77}, kKmers - 1}) {
        std::vector<float> z(kKmers, 0.5f);
        z[place] = bad;
        for (const double v : marginals_of(*backend, z)) CHECK(std::isnan(v));
        for (const ops::KnownBases known : {letters_of(0, 63), letters_of(kKmers - 1, 63), ops::kNoneKnown})
          for (const double v : conditionals_of(*backend, z, known)) CHECK(std::isnan(v));
      }
  }
}

TEST_CASE("conditionals agree with brute force, whichever bases are known") {
  const std::vector<float> z = Random(2).vector(kKmers, 12.0f);
  const auto all = backends();
  for (unsigned which = 0; which < 64; ++which) {
    CAPTURE(which);
    const size_t kmer = which * 2654435761u >> 8 & 4095;
    const ops::KnownBases known = letters_of(kmer, which);
    const std::vector<double> expected = brute_force(z.data(), known);
    for (const auto& [name, backend] : all) {
      INFO(name);
      const std::vector<double> got = conditionals_of(*backend, z, known),
                                marginals = marginals_of(*backend, z);
      check_marginals(got, expected, 24);
      check_sums(got);
      // Base 0 has the bits of its marginal, and so has every base without a known one before it.
      const size_t alike = std::min(static_cast<size_t>(std::countr_zero(which)) + 1, ops::kBases);
      CHECK(same_bits(got.data(), marginals.data(), 4 * alike));
      // The last base is before no other.
      CHECK(same_bits(conditionals_of(*backend, z, ops::with_letter(known, 5, 2)).data(), got.data(), 24));
      if (which != 63) continue;
      double sum = 0, total = 0;
      for (size_t j = 0; j < 6; ++j) sum += got[4 * j + (kmer >> (10 - 2 * j) & 3)];
      for (const float logit : z) total += std::exp(static_cast<double>(logit));
      CHECK(std::fabs(sum - (static_cast<double>(z[kmer]) - std::log(total))) <= 6 * marginal_bound(24));
    }
  }
}

TEST_CASE("conditionals are right in groups far below the rest") {
  const size_t peak = 1234;
  const auto all = backends();
  // One 6-mer 80 nats above the rest; then every base that differs costs 150, or 55, of which one is still
  // summed in float and two are not.
  std::vector<std::vector<float>> rows{Random(3).vector(kKmers, 12.0f), stepped_logits(4, peak, 150.0f),
                                       stepped_logits(5, peak, 55.0f)};
  rows[0][peak] = 92.0f;
  for (const std::vector<float>& z : rows)
    // The peak itself; it with the first, the third or the last base changed; all bases changed.
    for (const size_t kmer : {peak, peak ^ 1024, peak ^ 128, peak ^ 2, peak ^ 4095})
      for (const unsigned which : {63u, 62u, 61u, 47u, 42u, 21u, 1u, 0u}) {
        CAPTURE(kmer);
        CAPTURE(which);
        const ops::KnownBases known = letters_of(kmer, which);
        const std::vector<double> expected = brute_force(z.data(), known);
        for (const auto& [name, backend] : all) {
          INFO(name);
          const std::vector<double> got = conditionals_of(*backend, z, known),
                                    marginals = marginals_of(*backend, z);
          check_marginals(got, expected, kInfinity);
          check_sums(got);
          CHECK(same_bits(got.data(), marginals.data(), which == 0 ? 24 : 4));
        }
      }
  std::vector<float> z(kKmers, -3e38f);
  z[0] = 3e38f;
  for (const auto& [name, backend] : all)
    for (const size_t kmer : {size_t{0}, size_t{1}, kKmers - 1}) {
      INFO(name);
      const std::vector<double> got = conditionals_of(*backend, z, letters_of(kmer, 63));
      for (const double v : got) CHECK(std::isfinite(v));
      check_sums(got);
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
      const Stored w = stored(type, random.vector(kKmers * k)), a = stored(type, random.vector(n * k));
      const auto one = way.make(type, 1), two = way.make(type, 2);
      const auto head = one->prepare({w.data(), type, kKmers, k}),
                 head2 = two->prepare({w.data(), type, kKmers, k});
      std::vector<double> all(n * 24), threaded(n * 24), given(n * 24), given_threaded(n * 24);
      std::vector<ops::KnownBases> known;
      for (size_t i = 0; i < n; ++i)
        known.push_back(letters_of(i * 977 % kKmers, i % 3 == 0 ? 63 : static_cast<unsigned>(i * 29 % 64)));
      one->marginals(a.data(), n, *head, all.data());
      two->marginals(a.data(), n, *head2, threaded.data());
      one->conditionals(a.data(), n, *head, known, given.data());
      two->conditionals(a.data(), n, *head2, known, given_threaded.data());
      INFO(way.name(), " ", dtype_name(type));
      CHECK(same_bits(all.data(), threaded.data(), all.size()));
      CHECK(same_bits(given.data(), given_threaded.data(), given.size()));
      for (const size_t row : {0, 33, 69}) {
        const char* const act = static_cast<const char*>(a.data()) + row * k * dtype_size(type);
        std::vector<double> alone(24);
        one->marginals(act, 1, *head, alone.data());
        CHECK(same_bits(alone.data(), &all[row * 24], 24));
        std::vector<float> z(kKmers);
        one->logits(act, 1, *head, z.data());
        const std::vector<double> expected = brute_force(z.data());
        check_marginals(alone, expected, 2 * 64);
        one->conditionals(act, 1, *head, {&known[row], 1}, alone.data());
        CHECK(same_bits(alone.data(), &given[row * 24], 24));
        check_marginals(alone, brute_force(z.data(), known[row]), 2 * 64);
      }
    }
}

TEST_CASE("logsumexp over slices agrees with one sum in double") {
  const size_t n = 3, k = 40, vocabulary = 5000;
  Random random(6);
  const Stored w = stored(DType::f32, random.vector(vocabulary * k)),
               a = stored(DType::f32, random.vector(n * k, 4.0f));
  for (const Way& way : ways()) {
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
    const std::vector<ops::KnownBases> known(n, ops::kNoneKnown);
    CHECK_THROWS_AS(backend->conditionals(a.data(), n, *backend->prepare(whole), known, sum.data()), Error);
    const auto kmers = backend->prepare(whole.slice_rows(0, kKmers));
    CHECK_THROWS_AS(backend->conditionals(a.data(), n - 1, *kmers, known, sum.data()), Error);
  }
}
