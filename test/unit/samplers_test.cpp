// Samplers against brute force over 4,096 6-mers, the noise against published numbers, ties and limits.
#include "src/sampling/samplers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "src/base/error.hpp"
#include "src/base/random.hpp"
#include "tokenizer/kmer.hpp"

using namespace carbon;

namespace {

std::vector<float> random_logits(unsigned seed, float spread = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> z(kKmerCount);
  for (float& value : z) value = normal(random);
  return z;
}

size_t digit(size_t kmer, size_t j) {
  return kmer >> 2 * (5 - j) & 3;
}

size_t draw_at(const Joint& joint, const SamplerOptions& options, const DrawPlace& place) {
  return draw_kmer(joint, options, draw_counter(place));
}

/// Probabilities of all 6-mers by the definition, with the C library's exp.
std::vector<double> plain_joint(const std::vector<float>& z, const AllowedBases& allowed) {
  std::vector<double> p(z.size());
  double total = 0;
  for (size_t v = 0; v < z.size(); ++v) {
    bool all = true;
    for (size_t j = 0; j < 6; ++j) all = all && (allowed[j] >> digit(v, j) & 1);
    p[v] = all ? std::exp(static_cast<double>(z[v])) : 0;
    total += p[v];
  }
  for (double& value : p) value /= total;
  return p;
}

double sum_where(const std::vector<double>& p, auto condition) {
  double sum = 0;
  for (size_t v = 0; v < p.size(); ++v)
    if (condition(v)) sum += p[v];
  return sum;
}

const AllowedBases kMixed = {1, 0xF, 6, 0xF, 10, 8};

Joint joint_of(const std::vector<float>& z, const AllowedBases& allowed = kAllAllowed) {
  Joint joint;
  REQUIRE(joint.assign(z, allowed));
  return joint;
}

}  // namespace

TEST_CASE("Philox gives the numbers of the paper's reference implementation") {
  // kat_vectors of Random123, philox4x32 with 10 rounds.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  CHECK(uniform32(0) > 0);
  CHECK(uniform32(0xffffffff) < 1);
  CHECK(uniform53(0xffffffff, 0xffffffff) < 1);
}

TEST_CASE("exact_exp and exact_log are within 2^-51 of the C library in long double") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-700, 0);
  for (int i = 0; i < 20000; ++i) {
    const double x = exponent(random), y = std::exp(x);
    const long double e = std::exp(static_cast<long double>(x)), l = std::log(static_cast<long double>(y));
    CHECK(std::fabs(static_cast<double>((exact_exp(x) - e) / e)) < 0x1p-51);
    CHECK(std::fabs(static_cast<double>((exact_log(y) - l) / l)) < 0x1p-51);
  }
  CHECK(exact_exp(0) == 1);
  CHECK(exact_exp(-1e9) == 0);
  CHECK(exact_exp(-std::numeric_limits<double>::infinity()) == 0);
  CHECK(exact_log(1) == 0);
  for (const double u : {uniform32(0), uniform32(0xffffffff), 0.999999999999})
    CHECK(exact_log(u) == doctest::Approx(std::log(u)).epsilon(1e-14));
}

TEST_CASE("IUPAC codes") {
  CHECK(iupac_bases('A') == 1);
  CHECK(iupac_bases('t') == 2);
  CHECK(iupac_bases('C') == 4);
  CHECK(iupac_bases('g') == 8);
  CHECK(iupac_bases('R') == 9);
  CHECK(iupac_bases('y') == 6);
  CHECK(iupac_bases('n') == kAnyBase);
  CHECK(iupac_bases('U') == iupac_bases('T'));
  CHECK(iupac_bases('u') == iupac_bases('t'));
  for (const char c : {'-', '.', '*', 'X', ' ', '\0'}) CHECK(iupac_bases(c) == 0);
  CHECK(parse_constraint("aRn", "x", "f") == std::vector<BaseSet>{1, 9, 15});
  CHECK_THROWS_WITH_AS(parse_constraint("ACG-T", "--constraint", "f"),
                       doctest::Contains("'-' at position 4 is not an IUPAC code"), Error);
  CHECK_THROWS_AS(parse_constraint("", "--constraint", "f"), Error);
}

TEST_CASE("the joint is the restricted and renormalised softmax; shares and marginals are sums of it") {
  const std::vector<float> z = random_logits(1);
  for (const AllowedBases& allowed : {kAllAllowed, kMixed, AllowedBases{8, 8, 8, 8, 8, 1}}) {
    const std::vector<double> p = plain_joint(z, allowed);
    const Joint joint = joint_of(z, allowed);
    for (size_t v = 0; v < p.size(); v += 5)
      CHECK(joint.weights()[v] / joint.total() == doctest::Approx(p[v]).epsilon(1e-12));
    for (size_t j = 0; j < 6; ++j) {
      double marginal[4];
      joint.marginal(j, marginal);
      for (size_t b = 0; b < 4; ++b)
        CHECK(marginal[b] / joint.total() ==
              doctest::Approx(sum_where(p, [&](size_t v) { return digit(v, j) == b; })).epsilon(1e-12));
    }
    const auto likeliest = static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    for (size_t first = 0; first < 6; ++first)
      for (size_t last = first + 1; last <= 6; ++last) {
        const double share = sum_where(p, [&](size_t v) {
          for (size_t j = first; j < last; ++j)
            if (digit(v, j) != digit(likeliest, j)) return false;
          return true;
        });
        CHECK(joint.log_share(likeliest, first, last) == doctest::Approx(std::log(share)).epsilon(1e-12));
        CHECK(log_probability(joint, SamplerKind::chain, likeliest, first, last) ==
              joint.log_share(likeliest, first, last));
        double product = 0;
        for (size_t j = first; j < last; ++j)
          product += std::log(sum_where(p, [&](size_t v) { return digit(v, j) == digit(likeliest, j); }));
        CHECK(log_probability(joint, SamplerKind::marginal, likeliest, first, last) ==
              doctest::Approx(product).epsilon(1e-12));
      }
  }
}

TEST_CASE("a share stays finite where weights underflow, and a logit that is not finite is noticed") {
  std::vector<float> z(kKmerCount, -2000.0f);
  z[7] = 0;
  const Joint joint = joint_of(z);
  CHECK(joint.log_share(9, 0, 6) == doctest::Approx(-2000));
  CHECK(joint.log_share(7, 0, 6) == 0);
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    z[100] = bad;
    Joint other;
    CHECK_FALSE(other.assign(z, kAllAllowed));
  }
}

TEST_CASE("greedy takes the arg max of the sampler's own distribution; ties go to the first") {
  const SamplerOptions kmer{SamplerKind::kmer, true}, marginal{SamplerKind::marginal, true},
      chain{SamplerKind::chain, true};
  for (unsigned seed = 0; seed < 20; ++seed)
    for (const AllowedBases& allowed : {kAllAllowed, kMixed}) {
      const std::vector<float> z = random_logits(seed, 1);
      const std::vector<double> p = plain_joint(z, allowed);
      const Joint joint = joint_of(z, allowed);
      CHECK(draw_at(joint, kmer, {}) ==
            static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin()));
      size_t by_marginal = 0, by_chain = 0;
      for (size_t j = 0; j < 6; ++j) {
        std::array<double, 4> m, c;
        for (size_t b = 0; b < 4; ++b) {
          m[b] = sum_where(p, [&](size_t v) { return digit(v, j) == b; });
          c[b] = sum_where(p, [&](size_t v) { return v >> 2 * (5 - j) == (by_chain << 2 | b); });
        }
        by_marginal =
            by_marginal << 2 | static_cast<size_t>(std::max_element(m.begin(), m.end()) - m.begin());
        by_chain = by_chain << 2 | static_cast<size_t>(std::max_element(c.begin(), c.end()) - c.begin());
      }
      CHECK(draw_at(joint, marginal, {}) == by_marginal);
      CHECK(draw_at(joint, chain, {}) == by_chain);
    }
  const Joint flat = joint_of(std::vector<float>(kKmerCount, 1.5f));
  for (const SamplerOptions& options : {kmer, marginal, chain}) CHECK(draw_at(flat, options, {}) == 0);
}

TEST_CASE("top-k and top-p keep the likeliest, the first of equal ones") {
  const auto kept = [](std::vector<double> w, size_t top_k, double top_p) {
    keep_likeliest(w, top_k, top_p);
    std::vector<size_t> out;
    for (size_t i = 0; i < w.size(); ++i)
      if (w[i] > 0) out.push_back(i);
    return out;
  };
  using Set = std::vector<size_t>;
  CHECK(kept({1, 2, 3, 4}, 0, 1) == Set{0, 1, 2, 3});
  CHECK(kept({1, 2, 3, 4}, 2, 1) == Set{2, 3});
  CHECK(kept({1, 2, 3, 4}, 9, 1) == Set{0, 1, 2, 3});
  CHECK(kept({2, 2, 2, 2}, 3, 1) == Set{0, 1, 2});
  CHECK(kept({1, 2, 3, 4}, 0, 0.4) == Set{3});
  CHECK(kept({1, 2, 3, 4}, 0, 0.41) == Set{2, 3});
  CHECK(kept({1, 2, 3, 4}, 0, 0.9) == Set{1, 2, 3});
  CHECK(kept({1, 1, 1, 1}, 0, 0.5) == Set{0, 1});
  // top-p is a share of what top-k keeps: 0.5 of 7, not of 10.
  CHECK(kept({1, 2, 3, 4}, 2, 0.5) == Set{3});
  CHECK(kept({1, 2, 3, 4}, 0, 1e-9) == Set{3});
}

TEST_CASE("top-k 1 and a low temperature are greedy; a draw stays in the allowed and kept sets") {
  const std::vector<float> z = random_logits(3);
  const Joint joint = joint_of(z, kMixed);
  for (const SamplerKind kind : {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain}) {
    const size_t likeliest = draw_at(joint, {kind, true}, {});
    std::set<size_t> seen;
    for (uint32_t i = 0; i < 200; ++i) {
      CHECK(draw_at(joint, {kind, false, 1, 1, 1, 5}, {0, 0, i}) == likeliest);
      CHECK(draw_at(joint, {kind, false, 1e-4, 0, 1, 5}, {0, 0, i}) == likeliest);
      CHECK(draw_at(joint, {kind, false, 1, 0, 1e-6, 5}, {0, 0, i}) == likeliest);
      const size_t drawn = draw_at(joint, {kind, false, 50, 0, 1, 5}, {0, 0, i});
      CHECK(allows(kMixed, drawn));
      seen.insert(drawn);
    }
    CHECK(seen.size() > 50);
  }
}

TEST_CASE("noise depends on seed, record, sample and position") {
  const Joint joint = joint_of(random_logits(4));
  for (const SamplerKind kind : {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain}) {
    SamplerOptions options{kind};
    const auto draws = [&](uint64_t seed, DrawPlace place, uint64_t record_step, uint32_t sample_step) {
      options.seed = seed;
      std::vector<size_t> out;
      for (uint32_t i = 0; i < 8; ++i, place.record += record_step, place.sample += sample_step,
                    place.position += record_step + sample_step == 0)
        out.push_back(draw_at(joint, options, place));
      return out;
    };
    std::set<std::vector<size_t>> all;
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40})
      for (const uint64_t record : {uint64_t{0}, uint64_t{100}, uint64_t{1} << 33}) {
        all.insert(draws(seed, {record, 0, 0}, 0, 0));
        all.insert(draws(seed, {record, 0, 0}, 1, 0));
        all.insert(draws(seed, {record, 0, 0}, 0, 1));
      }
    CHECK(all.size() == 27);
    CHECK(draws(7, {1, 2, 3}, 1, 0) == draws(7, {1, 2, 3}, 1, 0));
  }
}

TEST_CASE("empirical frequencies of each sampler") {
  // 4 sigma bounds on 64 groups of 6-mers for fixed seeds; the whole distributions are tested on the program.
  const std::vector<float> z = random_logits(5, 1.5);
  const std::vector<double> p = plain_joint(z, kMixed);
  const Joint joint = joint_of(z, kMixed);
  constexpr uint32_t kDraws = 20000;
  for (const SamplerKind kind : {SamplerKind::kmer, SamplerKind::marginal, SamplerKind::chain}) {
    std::vector<double> counts(64), expected(64);
    for (uint32_t i = 0; i < kDraws; ++i) ++counts[draw_at(joint, {kind}, {3, i, 2}) >> 6];
    for (size_t group = 0; group < 64; ++group) {
      if (kind != SamplerKind::marginal) {
        expected[group] = sum_where(p, [&](size_t v) { return v >> 6 == group; });
        continue;
      }
      expected[group] = 1;
      for (size_t j = 0; j < 3; ++j)
        expected[group] *= sum_where(p, [&](size_t v) { return digit(v, j) == digit(group << 6, j); });
    }
    for (size_t group = 0; group < 64; ++group) {
      const double sigma = std::sqrt(kDraws * expected[group] * (1 - expected[group]));
      CHECK(std::fabs(counts[group] - kDraws * expected[group]) <= 4 * sigma + 1e-9);
    }
  }
}
