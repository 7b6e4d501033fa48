// append_kv() and attention(): against double precision, and bit for bit however a sequence is cut into runs.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

namespace {

struct Problem {
  size_t tokens, heads, kv_heads, head_dim;
  std::vector<float> q, k, v;  // [tokens, heads * head_dim], [tokens, kv_heads * head_dim] each, f32
  std::vector<double> inv_freq;
  double scale = 1.0;

  Problem(size_t tokens, size_t heads, size_t kv_heads, size_t head_dim, uint64_t seed)
      : tokens(tokens), heads(heads), kv_heads(kv_heads), head_dim(head_dim) {
    Random random(seed);
    q = random.vector(tokens * heads * head_dim, 3.0f);
    k = random.vector(tokens * kv_heads * head_dim, 3.0f);
    v = random.vector(tokens * kv_heads * head_dim);
    for (size_t j = 0; j < head_dim / 2; ++j)
      inv_freq.push_back(std::pow(10000.0, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim)));
  }
};

std::vector<double> rotated(const Problem& p, const float* x, size_t position) {
  const size_t half = p.head_dim / 2;
  std::vector<double> out(p.head_dim);
  for (size_t j = 0; j < half; ++j) {
    const double angle = static_cast<double>(position) * p.inv_freq[j];
    const double c = std::cos(angle) * p.scale, s = std::sin(angle) * p.scale;
    out[j] = static_cast<double>(x[j]) * c - static_cast<double>(x[half + j]) * s;
    out[half + j] = static_cast<double>(x[half + j]) * c + static_cast<double>(x[j]) * s;
  }
  return out;
}

/// A value as the KV cache stores it.
double cached(DType type, double x) {
  const float f = static_cast<float>(x);
  return static_cast<double>(type == DType::bf16 ? to_float(to_bf16(f)) : f);
}

/// One row of attention in double to the first `seen` keys, [heads * head_dim], on keys and values as the
/// cache stores them and on queries, with the factor 1/sqrt(head_dim), of the same precision.
std::vector<double> reference_row(const Problem& p, DType type, size_t token, size_t seen) {
  std::vector<double> out(p.heads * p.head_dim);
  for (size_t h = 0; h < p.heads; ++h) {
    const size_t kv = h / (p.heads / p.kv_heads);
    std::vector<double> q = rotated(p, &p.q[(token * p.heads + h) * p.head_dim], token);
    for (double& x : q) x = cached(type, x / std::sqrt(static_cast<double>(p.head_dim)));
    std::vector<double> score(seen);
    for (size_t t = 0; t < seen; ++t) {
      const std::vector<double> k = rotated(p, &p.k[(t * p.kv_heads + kv) * p.head_dim], t);
      for (size_t d = 0; d < p.head_dim; ++d) score[t] += q[d] * cached(type, k[d]);
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (double& s : score) sum += s = std::exp(s - largest);
    for (size_t t = 0; t < seen; ++t)
      for (size_t d = 0; d < p.head_dim; ++d)
        out[h * p.head_dim + d] +=
            score[t] / sum * cached(type, static_cast<double>(p.v[(t * p.kv_heads + kv) * p.head_dim + d]));
  }
  return out;
}

/// Runs a whole sequence in runs that end at `cuts` and at the end; the act buffer of all its tokens. Without
/// `causal` all keys are there before the first row attends to them.
std::vector<uint8_t> attend(ops::Backend& backend, const Problem& p, const std::vector<size_t>& cuts,
                            uint32_t first_page = 0, bool causal = true) {
  backend.set_rope({p.inv_freq, p.scale}, p.tokens);
  const auto kv = backend.kv_store({2, p.kv_heads, p.head_dim});
  const size_t n_pages = (p.tokens + ops::kPageTokens - 1) / ops::kPageTokens;
  kv->reserve(first_page + n_pages);
  std::vector<uint32_t> pages(n_pages);  // in falling order, so that index and position differ
  for (size_t i = 0; i < n_pages; ++i) pages[i] = first_page + static_cast<uint32_t>(n_pages - 1 - i);
  const size_t width = p.heads * p.head_dim, kv_width = p.kv_heads * p.head_dim;
  const size_t ld = width + 2 * kv_width;
  std::vector<uint8_t> result(p.tokens * width * dtype_size(backend.dtype()));
  if (!causal) {
    const ops::RowRun run{pages.data(), 0, p.tokens, 0};
    backend.append_kv(p.k.data(), p.v.data(), kv_width, *backend.plan({&run, 1}, p.heads, *kv), 1);
  }
  size_t begin = 0;
  std::vector<size_t> ends = cuts;
  ends.push_back(p.tokens);
  for (const size_t end : ends) {
    std::vector<float> qkv((end - begin) * ld);
    for (size_t t = begin; t < end; ++t) {
      float* const row = &qkv[(t - begin) * ld];
      std::copy_n(&p.q[t * width], width, row);
      std::copy_n(&p.k[t * kv_width], kv_width, row + width);
      std::copy_n(&p.v[t * kv_width], kv_width, row + width + kv_width);
    }
    const ops::RowRun run{pages.data(), 0, end - begin, begin, causal ? 0 : p.tokens};
    const auto plan = backend.plan({&run, 1}, p.heads, *kv);
    if (causal) backend.append_kv(qkv.data() + width, qkv.data() + width + kv_width, ld, *plan, 1);
    backend.attention(qkv.data(), ld, *plan, 1, &result[begin * width * dtype_size(backend.dtype())]);
    begin = end;
  }
  return result;
}

}  // namespace

TEST_CASE(
    "attention agrees with double precision for every head size and grouping, with and without a mask") {
  struct Shape {
    size_t tokens, heads, kv_heads, head_dim;
  };
  for (const Way& way : ways()) {
    for (const bool causal : {true, false})
      for (const DType type : {DType::f32, DType::bf16})
        for (const Shape shape : {Shape{1, 1, 1, 2}, Shape{70, 4, 2, 20}, Shape{200, 4, 2, 64},
                                  Shape{129, 3, 3, 80}, Shape{130, 8, 1, 96}, Shape{66, 4, 1, 128}}) {
          Problem p(shape.tokens, shape.heads, shape.kv_heads, shape.head_dim, 11);
          p.scale = 1.1;
          const auto backend = way.make(type);
          const std::vector<float> out = from_act(type, attend(*backend, p, {}, 0, causal));
          double worst = 0;
          for (size_t t = 0; t < p.tokens; ++t) {
            const std::vector<double> expected = reference_row(p, type, t, causal ? t + 1 : p.tokens);
            for (size_t i = 0; i < expected.size(); ++i) {
              const double got = static_cast<double>(out[t * expected.size() + i]);
              // Scores of size up to S carry an error of about 2 S (head_dim + 8) 2^-24 (rounded cos, sin,
              // products), which scales every weight by as much; |v| <= 1. In bf16 a key or
              // a query that falls on the other side of a rounding boundary adds one unit of its last place
              // to one term; and weights are rounded, each by up to 2^-9 of itself, which moves the mean of
              // values of up to 1 by no more than twice as much.
              const double s = 3 * 3 * 2 * 1.21 * 1.5 * std::sqrt(static_cast<double>(p.head_dim));
              double bound = 2 * s * static_cast<double>(p.head_dim + 8) * 0x1p-24 +
                             static_cast<double>(p.tokens) * 0x1p-24 + act_epsilon(type);
              if (type == DType::bf16) bound += 0x1p-8 + 0x1p-8;
              worst = worse(worst, std::fabs(got - expected[i]) / bound);
            }
          }
          INFO(way.name(), causal ? " causal " : " whole ", dtype_name(type), " head_dim ", shape.head_dim,
               " tokens ", shape.tokens);
          CHECK(worst <= 1.0);
        }
  }
}

TEST_CASE("attention has the same bits however the sequence is cut, whatever its pages, on any threads") {
  const Problem p(300, 6, 2, 48, 21);
  for (const Way& way : ways()) {
    for (const DType type : {DType::f32, DType::bf16}) {
      const auto one = way.make(type, 1), two = way.make(type, 2);
      const std::vector<uint8_t> whole = attend(*one, p, {});
      std::vector<size_t> each(p.tokens - 1);
      std::iota(each.begin(), each.end(), size_t{1});
      INFO(way.name(), " ", dtype_name(type));
      CHECK(attend(*one, p, {64, 128, 192}) == whole);
      CHECK(attend(*one, p, {1, 2, 10, 63, 66, 200, 299}) == whole);
      CHECK(attend(*one, p, each) == whole);
      CHECK(attend(*two, p, {}, 5) == whole);
      CHECK(attend(*two, p, {17, 100}) == whole);
      const std::vector<uint8_t> unmasked = attend(*one, p, {}, 0, false);
      CHECK(unmasked != whole);
      CHECK(attend(*one, p, {1, 2, 10, 63, 66, 200, 299}, 0, false) == unmasked);
      CHECK(attend(*two, p, {17, 128}, 5, false) == unmasked);
    }
  }
}

TEST_CASE("several runs in one call and a forked page give the bits of each sequence alone") {
  const Problem p(150, 4, 2, 64, 31);
  Problem other = p;  // the same first 100 tokens, then others
  Random random(99);
  for (size_t i = 100 * 4 * 64; i < other.q.size(); ++i) other.q[i] = random.next();
  for (size_t i = 100 * 2 * 64; i < other.k.size(); ++i) {
    other.k[i] = random.next();
    other.v[i] = random.next();
  }
  for (const Way& way : ways()) {
    const auto backend = way.make(DType::bf16, 2);
    const std::vector<uint8_t> alone = attend(*backend, p, {}), alone_other = attend(*backend, other, {});
    const auto kv = backend->kv_store({1, 2, 64});
    kv->reserve(5);
    const uint32_t pages[3] = {0, 1, 2}, fork[3] = {0, 3, 4};
    const ops::RowRun prefix{pages, 0, 100, 0};
    backend->append_kv(p.k.data(), p.v.data(), 128, *backend->plan({&prefix, 1}, 4, *kv), 0);
    kv->copy_page(3, 1);
    // Rows 0 to 49 of the call are the end of the other sequence, rows 50 to 99 the end of this one.
    std::vector<float> q(100 * 256), k(100 * 128), v(100 * 128);
    const Problem* const order[2] = {&other, &p};
    for (size_t s = 0; s < 2; ++s) {
      std::copy_n(&order[s]->q[100 * 256], 50 * 256, &q[s * 50 * 256]);
      std::copy_n(&order[s]->k[100 * 128], 50 * 128, &k[s * 50 * 128]);
      std::copy_n(&order[s]->v[100 * 128], 50 * 128, &v[s * 50 * 128]);
    }
    const ops::RowRun runs[2] = {{fork, 0, 50, 100}, {pages, 50, 50, 100}};
    const auto plan = backend->plan(runs, 4, *kv);
    backend->append_kv(k.data(), v.data(), 128, *plan, 0);
    std::vector<uint8_t> act(100 * 256 * 2);
    backend->attention(q.data(), 256, *plan, 0, act.data());
    const size_t bytes = 50 * 256 * 2, from = 100 * 256 * 2;
    CHECK(same_bits(act.data(), alone_other.data() + from, bytes));
    CHECK(same_bits(act.data() + bytes, alone.data() + from, bytes));
  }
}

TEST_CASE("NaN reaches the rows that may see it and no others") {
  for (const Way& way : ways()) {
    for (const DType type : {DType::f32, DType::bf16})
      for (const size_t token : {90, 91})  // either one of a pair
        for (const char what : {'q', 'k', 'v'}) {
          Problem p(140, 2, 1, 32, 41);
          if (what == 'q') p.q[token * 64 + 3] = std::nanf("");
          if (what == 'k') p.k[token * 32 + 3] = std::nanf("");
          if (what == 'v') p.v[token * 32 + 3] = std::nanf("");
          const auto backend = way.make(type);
          const std::vector<float> out = from_act(type, attend(*backend, p, {}));
          bool right = true;
          for (size_t t = 0; t < p.tokens; ++t) {
            const bool reached = what == 'q' ? t == token : t >= token;
            right = right && std::isnan(out[t * 64 + 3]) == reached;
          }
          INFO(way.name(), " ", dtype_name(type), " ", what, " of token ", token);
          CHECK(right);
        }
  }
}

TEST_CASE("attention and the KV store refuse what they cannot do") {
  const auto backend = Way{"generic"}.make(DType::f32);
  CHECK_THROWS_AS(backend->kv_store({1, 1, 7}), Error);
  CHECK_THROWS_AS(backend->kv_store({1, 1, 4096}), Error);
  CHECK_THROWS_AS(backend->kv_store({0, 1, 8}), Error);
  CHECK_THROWS_AS(backend->kv_store({size_t{1} << 40, size_t{1} << 40, 8}), Error);
  const auto kv = backend->kv_store({1, 1, 8});
  CHECK(kv->page_bytes() == (8 * 64 + 64 * 16) * sizeof(float));
  kv->reserve(1);
  CHECK_THROWS_AS(kv->copy_page(0, 1), Error);
  const std::vector<double> inv_freq(4, 1.0);
  backend->set_rope({inv_freq, 1.0}, 10);
  const std::vector<float> rows(12 * 8);
  std::vector<float> out(12 * 8);
  const uint32_t page = 0, missing = 3;
  const auto append = [&](const ops::RowRun& run, size_t layer) {
    backend->append_kv(rows.data(), rows.data(), 8, *backend->plan({&run, 1}, 1, *kv), layer);
  };
  CHECK_NOTHROW(append({&page, 0, 10, 0}, 0));
  CHECK_THROWS_AS(append({&page, 0, 11, 0}, 0), Error);
  CHECK_THROWS_AS(append({&page, 0, 1, 10}, 0), Error);
  CHECK_THROWS_AS(append({&missing, 0, 1, 0}, 0), Error);
  CHECK_THROWS_AS(append({&page, 0, 1, 0}, 1), Error);
  backend->set_rope({inv_freq, 1.0}, 12);  // grows
  CHECK_NOTHROW(append({&page, 0, 11, 0}, 0));
  const ops::RowRun run{&page, 0, 2, 0};
  CHECK_THROWS_AS(backend->plan({&run, 1}, 0, *kv), Error);
  const ops::RowRun too_few{&page, 0, 2, 1, 2};
  CHECK_THROWS_AS(backend->plan({&too_few, 1}, 1, *kv), Error);
  const auto plan = backend->plan({&run, 1}, 1, *kv);
  CHECK_NOTHROW(backend->attention(rows.data(), 8, *plan, 0, out.data()));
  CHECK_THROWS_AS(backend->attention(rows.data(), 8, *plan, 1, out.data()), Error);
  const auto other = Way{"generic"}.make(DType::f32);
  CHECK_THROWS_AS(other->plan({&run, 1}, 1, *kv), Error);  // which has no rotary table
}
