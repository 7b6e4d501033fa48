// kv_store(), append_kv() and attention(): against double precision, and to the bit however a sequence is
// cut.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "kernels/cuda/plan.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

struct Problem {
  size_t tokens, heads, kv_heads, head_dim;
  std::vector<float> q, k, v;  // [tokens, heads * head_dim], [tokens, kv_heads * head_dim] each, f32
  std::vector<double> inv_freq;
  double scale = 1.1;

  Problem(size_t tokens, size_t heads, size_t kv_heads, size_t head_dim, uint64_t seed)
      : tokens(tokens), heads(heads), kv_heads(kv_heads), head_dim(head_dim) {
    Random random(seed);
    q = random.vector(tokens * heads * head_dim, 3.0f);
    k = random.vector(tokens * kv_heads * head_dim, 3.0f);
    v = random.vector(tokens * kv_heads * head_dim);
    for (size_t j = 0; j < head_dim / 2; ++j)
      inv_freq.push_back(std::pow(10000.0, -2.0 * static_cast<double>(j) / static_cast<double>(head_dim)));
  }
  size_t q_width() const { return heads * head_dim; }
  size_t kv_width() const { return kv_heads * head_dim; }
};

/// A rotated head as the kernels compute it: the table in f32, products and sums rounded one by one.
std::vector<float> rotated(const Problem& p, const float* x, size_t position) {
  const size_t half = p.head_dim / 2;
  std::vector<float> out(p.head_dim);
  for (size_t j = 0; j < half; ++j) {
    const double angle = static_cast<double>(position) * p.inv_freq[j];
    const auto c = static_cast<float>(std::cos(angle) * p.scale),
               s = static_cast<float>(std::sin(angle) * p.scale);
    const float ac = x[j] * c, bs = x[half + j] * s, bc = x[half + j] * c, as = x[j] * s;
    out[j] = ac - bs;
    out[half + j] = bc + as;
  }
  return out;
}

/// One row of attention to the first `seen` keys, [heads * head_dim], in double on rounded queries, keys and
/// values.
std::vector<double> reference_row(const Problem& p, DType type, bool round_queries, size_t token,
                                  size_t seen) {
  std::vector<double> out(p.q_width());
  for (size_t h = 0; h < p.heads; ++h) {
    const size_t kv = h / (p.heads / p.kv_heads);
    const std::vector<float> q = rotated(p, &p.q[(token * p.heads + h) * p.head_dim], token);
    std::vector<double> score(seen);
    for (size_t t = 0; t < seen; ++t) {
      const std::vector<float> k = rotated(p, &p.k[(t * p.kv_heads + kv) * p.head_dim], t);
      for (size_t d = 0; d < p.head_dim; ++d)
        score[t] += double{rounded(round_queries ? type : DType::f32, q[d])} * double{rounded(type, k[d])};
      score[t] /= std::sqrt(static_cast<double>(p.head_dim));
    }
    const double largest = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (double& s : score) sum += s = std::exp(s - largest);
    for (size_t t = 0; t < seen; ++t)
      for (size_t d = 0; d < p.head_dim; ++d)
        out[h * p.head_dim + d] +=
            score[t] / sum * double{rounded(type, p.v[(t * p.kv_heads + kv) * p.head_dim + d])};
  }
  return out;
}

/// The rows [begin, end) of a problem as one buffer of q, k, v side by side.
std::vector<float> rows_of(const Problem& p, size_t begin, size_t end) {
  std::vector<float> rows;
  for (size_t t = begin; t < end; ++t)
    for (const auto& [all, width] :
         {std::pair(&p.q, p.q_width()), std::pair(&p.k, p.kv_width()), std::pair(&p.v, p.kv_width())})
      rows.insert(rows.end(), &(*all)[t * width], &(*all)[t * width] + width);
  return rows;
}

std::vector<uint32_t> falling_pages(size_t tokens, uint32_t first) {
  const size_t n = (tokens + ops::kPageTokens - 1) / ops::kPageTokens;
  std::vector<uint32_t> pages(n);
  for (size_t i = 0; i < n; ++i) pages[i] = first + static_cast<uint32_t>(n - 1 - i);
  return pages;
}

/// Keys and values of rows_of() to the cache.
void append(ops::Backend& backend, const Problem& p, const Array& qkv, const ops::RowPlan& plan,
            size_t layer) {
  const float* const k = qkv.floats() + p.q_width();
  backend.append_kv(k, k + p.kv_width(), p.q_width() + 2 * p.kv_width(), plan, layer);
}

/// Runs a whole sequence in runs that end at `cuts` and at the end; the act buffer of all its tokens. Without
/// `causal` all keys are there before the first row attends to them.
std::vector<uint8_t> attend(ops::Backend& backend, const Problem& p, std::vector<size_t> cuts,
                            uint32_t first_page = 0, bool causal = true) {
  backend.set_rope({p.inv_freq, p.scale}, p.tokens);
  const auto kv = backend.kv_store({2, p.kv_heads, p.head_dim});
  const std::vector<uint32_t> pages = falling_pages(p.tokens, first_page);
  kv->reserve(first_page + pages.size());
  const size_t ld = p.q_width() + 2 * p.kv_width(), row_bytes = p.q_width() * dtype_size(backend.dtype());
  std::vector<uint8_t> result;
  if (!causal) {
    const Array qkv(backend, rows_of(p, 0, p.tokens));
    const ops::RowRun all{pages.data(), 0, p.tokens, 0};
    append(backend, p, qkv, *backend.plan({&all, 1}, p.heads, *kv), 1);
  }
  size_t begin = 0;
  cuts.push_back(p.tokens);
  for (const size_t end : cuts) {
    const Array qkv(backend, rows_of(p, begin, end)), act(backend, (end - begin) * row_bytes);
    const ops::RowRun run{pages.data(), 0, end - begin, begin, causal ? 0 : p.tokens};
    const auto plan = backend.plan({&run, 1}, p.heads, *kv);
    if (causal) append(backend, p, qkv, *plan, 1);
    backend.attention(qkv.floats(), ld, *plan, 1, act.get());
    const std::vector<uint8_t> part = act.bytes((end - begin) * row_bytes);
    result.insert(result.end(), part.begin(), part.end());
    begin = end;
  }
  return result;
}

bool has_tensor_path(DType type, size_t head_dim) {
  return type != DType::f32 && (head_dim == 64 || head_dim == 96 || head_dim == 128);
}

/// A row of act at `raw` against double.
void agrees_row(Checks& checks, const Problem& p, DType type, bool mma, size_t token, const uint8_t* raw,
                bool causal = true) {
  const std::vector<double> want = reference_row(p, type, mma, token, causal ? token + 1 : p.tokens);
  for (size_t i = 0; i < want.size(); ++i) {
    double got;
    if (type != DType::f32) {
      got = static_cast<double>(half_of(type, raw + i * dtype_size(type)));
    } else {
      float f;
      std::memcpy(&f, raw + i * sizeof f, sizeof f);
      got = static_cast<double>(f);
    }
    // |v| <= 1. Weights and results rounded to the type: half a unit each. Scores of size up to S carry
    // S (head_dim + 2) 2^-24 from their sums, which scale weights by as much; sums of weights their own.
    const double s = 3 * 3 * 2 * 1.21 * std::sqrt(static_cast<double>(p.head_dim));
    const double bound = (mma ? 2 : 1) * act_epsilon(type) / 2 + act_epsilon(type) / 2 +
                         2 * s * static_cast<double>(p.head_dim + 8) * 0x1p-24 +
                         static_cast<double>(p.tokens) * 0x1p-24;
    checks.within(std::fabs(got - want[i]), bound, "head size " + std::to_string(p.head_dim));
  }
}

void agrees(Checks& checks, ops::Backend& backend, const Problem& p, bool tensor_cores) {
  const DType type = backend.dtype();
  for (const bool causal : {true, false}) {
    const std::vector<uint8_t> raw = attend(backend, p, {}, 0, causal);
    for (size_t t = 0; t < p.tokens; t += 1 + p.tokens / 40)
      agrees_row(checks, p, type, tensor_cores && has_tensor_path(type, p.head_dim), t,
                 &raw[t * p.q_width() * dtype_size(type)], causal);
  }
}

void is_invariant(Checks& checks, ops::Backend& backend, const Problem& p) {
  const std::vector<uint8_t> whole = attend(backend, p, {}), unmasked = attend(backend, p, {}, 0, false);
  for (const std::vector<size_t>& cuts : {std::vector<size_t>{1}, {65}, {1, 2, 3, 127, 128, 129}})
    checks.that(same_bits(attend(backend, p, cuts, 2, false), unmasked),
                "without a mask, cut at " + std::to_string(cuts[0]));
  for (const std::vector<size_t>& cuts :
       {std::vector<size_t>{1}, {63}, {64}, {65}, {100, 101, 102}, {1, 2, 3, 127, 128, 129}, {p.tokens - 1}})
    checks.that(same_bits(attend(backend, p, cuts, static_cast<uint32_t>(cuts[0] % 3)), whole),
                "cut at " + std::to_string(cuts[0]) + ", head size " + std::to_string(p.head_dim));
}

/// Two sequences in one call, in rows out of order, have the bits that each has alone.
void does_not_see_neighbours(Checks& checks, ops::Backend& backend, size_t head_dim) {
  const Problem a(90, 4, 2, head_dim, 31), b(70, 4, 2, head_dim, 32);
  const size_t ld = a.q_width() + 2 * a.kv_width(), row_bytes = a.q_width() * dtype_size(backend.dtype());
  const std::vector<uint8_t> alone_a = attend(backend, a, {}), alone_b = attend(backend, b, {});
  const auto kv = backend.kv_store({1, a.kv_heads, head_dim});
  kv->reserve(4);
  std::vector<float> rows = rows_of(b, 0, b.tokens);
  const std::vector<float> more = rows_of(a, 0, a.tokens);
  rows.insert(rows.end(), more.begin(), more.end());
  const Array qkv(backend, rows), act(backend, (a.tokens + b.tokens) * row_bytes);
  const std::vector<uint32_t> pages_a{3, 0}, pages_b{1, 2};
  const ops::RowRun runs[] = {{pages_a.data(), b.tokens, a.tokens, 0}, {pages_b.data(), 0, b.tokens, 0}};
  const auto plan = backend.plan(runs, a.heads, *kv);
  append(backend, a, qkv, *plan, 0);
  backend.attention(qkv.floats(), ld, *plan, 0, act.get());
  std::vector<uint8_t> both = alone_b;
  both.insert(both.end(), alone_a.begin(), alone_a.end());
  checks.that(same_bits(act.bytes(both.size()), both), "two sequences at once");
}

/// Sequences with all their keys and values in one store, of which any rows go through attention(). All begin
/// with the first `shared` pages of the first one.
class Decoding {
 public:
  Decoding(ops::Backend& backend, const std::vector<Problem>& problems, size_t shared = 0)
      : backend_(backend), problems_(problems) {
    const Problem& p = problems_.front();
    kv_ = backend.kv_store({1, p.kv_heads, p.head_dim});
    size_t positions = 0;
    uint32_t page = 0;
    for (const Problem& problem : problems_) {
      pages_.push_back(falling_pages(problem.tokens, page));
      std::copy_n(pages_.front().begin(), shared, pages_.back().begin());
      page += static_cast<uint32_t>(pages_.back().size());
      positions = std::max(positions, problem.tokens);
    }
    kv_->reserve(page);
    backend.set_rope({p.inv_freq, p.scale}, positions);
    for (size_t i = 0; i < problems_.size(); ++i) {
      const Array rows(backend, rows_of(problems_[i], 0, problems_[i].tokens));
      const ops::RowRun run{pages_[i].data(), 0, problems_[i].tokens, 0};
      append(backend, p, rows, *backend.plan({&run, 1}, p.heads, *kv_), 0);
    }
  }

  struct Part {
    size_t problem, begin, end;
  };
  /// Rows of act, one after the other.
  std::vector<uint8_t> attend(const std::vector<Part>& parts, ops::RowClass row_class = ops::RowClass::decode,
                              int exponent = 0) {
    std::vector<float> rows;
    std::vector<ops::RowRun> runs;
    size_t n = 0;
    for (const auto& [problem, begin, end] : parts) {
      const std::vector<float> more = rows_of(problems_[problem], begin, end);
      rows.insert(rows.end(), more.begin(), more.end());
      runs.push_back({pages_[problem].data(), n, end - begin, begin});
      n += end - begin;
    }
    const Array qkv(backend_, rows), act(backend_, n * row_bytes());
    const auto plan = backend_.plan(runs, problems_.front().heads, *kv_, row_class);
    const auto* const tables = dynamic_cast<const cuda::CudaPlan*>(&*plan);
    joined_ = tables != nullptr && tables->joined();
    backend_.attention(qkv.floats(), ld(), *plan, 0, act.get(), exponent);
    return act.bytes(n * row_bytes());
  }
  /// True if blocks had rows of several sequences.
  bool joined() const { return joined_; }
  size_t row_bytes() const { return problems_.front().q_width() * dtype_size(backend_.dtype()); }

 private:
  size_t ld() const { return problems_.front().q_width() + 2 * problems_.front().kv_width(); }

  ops::Backend& backend_;
  const std::vector<Problem>& problems_;
  std::unique_ptr<ops::KvStore> kv_;
  std::vector<std::vector<uint32_t>> pages_;
  bool joined_ = false;
};

/// Last positions around the borders of pages, of chunks of keys and of groups of chunks.
std::vector<size_t> border_positions(size_t tokens) {
  std::vector<size_t> all;
  for (const size_t border : {64, 128, 192, 256, 384, 2048, 4096})
    for (const size_t position : {border - 1, border})
      if (position < tokens) all.push_back(position);
  all.push_back(0);
  if (tokens > 1) all.push_back(tokens - 1);
  return all;
}

/// Queries so small that all keys count about alike, and sums of their values cancel.
Problem with_small_queries(Problem p) {
  for (float& x : p.q) x *= 0.05f;
  return p;
}
/// Queries equal to the keys of their positions, so that a row's last key counts most.
Problem with_own_keys(Problem p) {
  for (size_t i = 0; i < p.q.size(); ++i) {
    const size_t row = i / p.q_width(), head = i % p.q_width() / p.head_dim / (p.heads / p.kv_heads);
    p.q[i] = p.k[row * p.kv_width() + head * p.head_dim + i % p.head_dim];
  }
  return p;
}

/// A sequence that is `p` up to position `at`.
Problem forked(const Problem& p, size_t at, size_t tokens, uint64_t seed) {
  Problem fork(tokens, p.heads, p.kv_heads, p.head_dim, seed);
  std::copy_n(p.q.begin(), at * p.q_width(), fork.q.begin());
  std::copy_n(p.k.begin(), at * p.kv_width(), fork.k.begin());
  std::copy_n(p.v.begin(), at * p.kv_width(), fork.v.begin());
  return fork;
}

/// Alleles that fork from a window have the bits together that each has alone, though a block may take
/// several. One of them has values that are not finite, which no other one may see.
void reads_shared_pages_once(Checks& checks, ops::Backend& backend, const Problem& window, size_t alleles,
                             bool joins) {
  constexpr size_t kShared = 2, kFork = kShared * ops::kPageTokens;
  struct Fork {
    size_t begin, rows;
  };
  // In the first page of its own, at its end, over it; as many as a block has, and more than that.
  constexpr Fork kForks[] = {{kFork, 5},      {kFork + 30, 17}, {kFork + 62, 4}, {kFork, 1},
                             {kFork + 1, 66}, {kFork + 63, 1},  {kFork + 5, 24}};
  constexpr size_t kBad = 3;
  std::vector<Problem> problems{with_small_queries(window)};
  std::vector<Decoding::Part> parts;
  for (size_t i = 0; i < alleles; ++i) {
    const auto& [begin, rows] = kForks[i % std::size(kForks)];
    Problem fork = forked(problems.front(), kFork, begin + rows, 70 + i);
    if (i == kBad) std::fill(fork.v.begin() + kFork * fork.kv_width(), fork.v.end(), INFINITY);
    parts.push_back({i + 1, begin, begin + rows});
    problems.push_back(with_small_queries(fork));
  }
  Decoding decoding(backend, problems, kShared);
  std::vector<uint8_t> want;
  for (const Decoding::Part& part : parts) {
    const std::vector<uint8_t> rows = decoding.attend({part}, ops::RowClass::prefill);
    checks.that(!decoding.joined(), "one sequence has nothing to share");
    want.insert(want.end(), rows.begin(), rows.end());
  }
  const std::string name = "head size " + std::to_string(window.head_dim);
  checks.that(same_bits(want, decoding.attend(parts, ops::RowClass::prefill)), name);
  checks.that(decoding.joined() == joins, name + " shares pages");
}

void decode_agrees(Checks& checks, ops::Backend& backend, const Problem& p, bool tensor_cores) {
  const DType type = backend.dtype();
  const bool mma = tensor_cores && has_tensor_path(type, p.head_dim);
  const std::vector<Problem> problems{p};
  Decoding decoding(backend, problems);
  for (const size_t position : border_positions(p.tokens)) {
    const std::vector<uint8_t> row = decoding.attend({{0, position, position + 1}});
    agrees_row(checks, p, type, mma, position, row.data());
    // Without a kernel of its own for it, the class makes no difference.
    if (!mma || p.heads / p.kv_heads > 16)
      checks.that(same_bits(row, decoding.attend({{0, position, position + 1}}, ops::RowClass::prefill)),
                  "the same in both classes");
  }
}

/// A row alone, as one of a batch, and among other rows of its sequence, as drafts are verified.
void decode_is_invariant(Checks& checks, ops::Backend& backend, const Problem& p, size_t times) {
  const auto like = [&](size_t tokens, uint64_t seed) {
    return Problem(tokens, p.heads, p.kv_heads, p.head_dim, seed);
  };
  const std::vector<Problem> alone{p}, many{like(1, 51), p, like(130, 52), like(300, 53)};
  Decoding single(backend, alone), batch(backend, many);
  const size_t bytes = single.row_bytes();
  const auto row = [&](const std::vector<uint8_t>& rows, size_t index) {
    const auto begin = rows.begin() + static_cast<ptrdiff_t>(index * bytes);
    return std::vector<uint8_t>(begin, begin + static_cast<ptrdiff_t>(bytes));
  };
  for (size_t i = 0; i < times; ++i)
    for (const size_t position : border_positions(p.tokens)) {
      const std::string name = "position " + std::to_string(position);
      const std::vector<uint8_t> want = single.attend({{0, position, position + 1}});
      const std::vector<uint8_t> in_batch =
          batch.attend({{3, 299, 300}, {2, 125, 130}, {1, position, position + 1}, {0, 0, 1}});
      checks.that(same_bits(want, row(in_batch, 6)), name + " in a batch");
      const size_t begin = position - std::min<size_t>(position, 1 + i % 7),
                   end = std::min(p.tokens, position + 6);
      checks.that(same_bits(want, row(single.attend({{0, begin, end}}), position - begin)),
                  name + " among others of its sequence");
    }
}

/// Every row that has several chunks of keys, alone and all in one call: enough of them for the rounding to
/// bf16 not to hide that sums were taken in another order.
void decode_has_one_order(Checks& checks, ops::Backend& backend, const Problem& p) {
  const std::vector<Problem> problems{with_small_queries(p)};
  Decoding decoding(backend, problems);
  std::vector<uint8_t> want;
  for (size_t i = 200; i < p.tokens; ++i) {
    const std::vector<uint8_t> row = decoding.attend({{0, i, i + 1}});
    want.insert(want.end(), row.begin(), row.end());
  }
  checks.that(same_bits(want, decoding.attend({{0, 200, p.tokens}})), "rows alone and together");
}

/// What the pages hold behind a row's last key, a refused draft's values that are not finite, say, is not
/// read.
void decode_reads_no_further(Checks& checks, ops::Backend& backend, size_t head_dim) {
  std::vector<Problem> problems(2, Problem(200, 4, 2, head_dim, 54));
  constexpr size_t kLast = 139;
  for (size_t i = (kLast + 1) * problems[1].kv_width(); i < problems[1].k.size(); ++i)
    problems[1].k[i] = problems[1].v[i] = std::numeric_limits<float>::quiet_NaN();
  Decoding decoding(backend, problems);
  checks.that(
      same_bits(decoding.attend({{0, kLast - 1, kLast + 1}}), decoding.attend({{1, kLast - 1, kLast + 1}})),
      "head size " + std::to_string(head_dim));
}

/// More sequences than a launch takes, each with the bits that it has alone.
void decode_takes_many(Checks& checks, ops::Backend& backend, size_t sequences) {
  std::vector<Problem> problems;
  for (size_t i = 0; i < 3; ++i) problems.emplace_back(1 + 260 * i, 2, 1, 64, 60 + i);
  Decoding decoding(backend, problems);
  std::vector<uint8_t> want;
  std::vector<Decoding::Part> parts;
  for (size_t i = 0; i < sequences; ++i) {
    const size_t last = problems[i % 3].tokens;
    parts.push_back({i % 3, last - 1, last});
    const std::vector<uint8_t> row = decoding.attend({parts.back()});
    want.insert(want.end(), row.begin(), row.end());
  }
  checks.that(same_bits(want, decoding.attend(parts)), std::to_string(sequences) + " sequences");
}

/// Copied pages have their contents whatever becomes of the others, and growing the store keeps them.
void copies_pages(Checks& checks, ops::Backend& backend) {
  const Problem p(100, 2, 1, 64, 41);
  backend.set_rope({p.inv_freq, p.scale}, p.tokens);
  const auto kv = backend.kv_store({1, 1, 64});
  kv->reserve(2);
  const size_t ld = p.q_width() + 2 * p.kv_width(),
               bytes = p.tokens * p.q_width() * dtype_size(backend.dtype());
  const Array qkv(backend, rows_of(p, 0, p.tokens)), act(backend, bytes), again(backend, bytes);
  const std::vector<uint32_t> pages{0, 1}, copies{500, 501};
  const ops::RowRun run{pages.data(), 0, p.tokens, 0}, copy{copies.data(), 0, p.tokens, 0};
  const auto plan = backend.plan({&run, 1}, p.heads, *kv);
  append(backend, p, qkv, *plan, 0);
  backend.attention(qkv.floats(), ld, *plan, 0, act.get());
  checks.refused([&] { backend.plan({&copy, 1}, p.heads, *kv); }, "does not exist");
  kv->reserve(502);
  for (const size_t i : {size_t{0}, size_t{1}}) kv->copy_page(copies[i], pages[i]);
  // Other keys and values in the first pages; then the same rows and positions on the others.
  backend.append_kv(qkv.floats(), qkv.floats(), ld, *plan, 0);
  backend.attention(qkv.floats(), ld, *plan, 0, again.get());
  checks.that(!same_bits(act.bytes(bytes), again.bytes(bytes)), "keys and values count");
  backend.attention(qkv.floats(), ld, *backend.plan({&copy, 1}, p.heads, *kv), 0, again.get());
  checks.that(same_bits(act.bytes(bytes), again.bytes(bytes)), "the copy");
  checks.refused([&] { kv->copy_page(100000, 0); }, "does not exist");
  checks.refused([&] { backend.attention(qkv.floats(), ld, *plan, 1, act.get()); }, "there is no layer 1");
  checks.refused([&] { backend.plan({&run, 1}, 0, *kv); }, "cannot share");
  checks.refused([&] { backend.kv_store({1, 1, 63}); }, "unsupported KV shape");
}

/// Queries, keys and values times powers of two, of which attention() is told, give the same bits.
void scales_do_not_matter(Checks& checks, ops::Backend& backend, size_t head_dim) {
  constexpr int kQuery = -3, kKey = 5;
  const Problem p(300, 4, 2, head_dim, 57);
  Problem scaled = p;
  for (float& x : scaled.q) x = std::ldexp(x, -kQuery);
  for (float& x : scaled.k) x = std::ldexp(x, -kKey);
  const std::vector<Problem> plain{p}, other{scaled};
  Decoding want(backend, plain), got(backend, other);
  for (const ops::RowClass row_class : kClasses)
    checks.that(same_bits(want.attend({{0, 260, 300}}, row_class),
                          got.attend({{0, 260, 300}}, row_class, kQuery + kKey)),
                name(row_class) + ", head size " + std::to_string(head_dim));
}

/// The root of the mean square of errors against double on numbers that are not rounded.
double attention_error(ops::Backend& backend, const Problem& p, ops::RowClass row_class) {
  const std::vector<Problem> problems{p};
  Decoding decoding(backend, problems);
  double squares = 0;
  size_t n = 0;
  for (size_t token = 5; token < p.tokens; token += 20) {
    const std::vector<uint8_t> raw = decoding.attend({{0, token, token + 1}}, row_class);
    const std::vector<double> want = reference_row(p, DType::f32, false, token, token + 1);
    for (size_t i = 0; i < want.size(); ++i, ++n)
      squares += std::pow(double{half_of(backend.dtype(), &raw[2 * i])} - want[i], 2);
  }
  return std::sqrt(squares / static_cast<double>(n));
}

void errors_are_smaller(Checks& checks, ops::Backend& f16, ops::Backend& bf16) {
  const Problem p(300, 4, 2, 64, 58);
  for (const ops::RowClass row_class : kClasses)
    checks.within(attention_error(f16, p, row_class), attention_error(bf16, p, row_class) / 7,
                  name(row_class));
}

#ifdef CARBON_CUDA_EMULATION  // where the size of shared memory is set
/// A GPU of which a multiprocessor has room for one block gets smaller ones, with the bits of the others. So
/// does one whose blocks are small, sm_75, in both classes.
void attention_does_not_see_shared_memory(Checks& checks, const Machine& machine, const Way& way) {
  for (const size_t head_dim : {size_t{64}, size_t{96}, size_t{128}}) {
    const std::vector<Problem> problems{with_small_queries(Problem(300, 4, 1, head_dim, 56))};
    std::vector<uint8_t> want;
    for (const char* const sm : {"90", "86", "75"}) {
      if (std::strcmp(sm, "75") == 0 && way.dtype != DType::f16) continue;
      setenv("CARBON_EMULATED_SM", sm, 1);
      const auto backend = make(machine, way);
      Decoding decoding(*backend, problems);
      std::vector<uint8_t> rows;
      for (const ops::RowClass row_class : kClasses)
        for (const size_t end : {size_t{20}, size_t{64}, size_t{160}, size_t{225}, size_t{300}}) {
          const std::vector<uint8_t> more = decoding.attend({{0, end - 5, end}}, row_class);
          rows.insert(rows.end(), more.begin(), more.end());
        }
      unsetenv("CARBON_EMULATED_SM");
      if (want.empty()) want = rows;
      checks.that(same_bits(want, rows), "head size " + std::to_string(head_dim) + ", sm_" + sm);
    }
  }
}
#endif

void check_decode_attention(Checks& checks, const Machine& machine, const Way& way, ops::Backend& backend,
                            bool tensor_cores) {
  struct Shape {
    size_t tokens, heads, kv_heads, head_dim;
  };
  // Groups of 1, 2, 4, 8 and 16 heads, and one that is too large for a tile; two and more groups of chunks.
  std::vector<Shape> shapes = {{129, 4, 2, 20},  {2065, 2, 1, 64}, {300, 8, 1, 96}, {390, 8, 2, 128},
                               {257, 3, 3, 128}, {130, 16, 1, 64}, {70, 17, 1, 96}};
  if (!machine.emulated)
    shapes.insert(shapes.end(),
                  {{1366, 16, 8, 64}, {4100, 32, 4, 96}, {1366, 32, 8, 128}, {9000, 4, 1, 128}});
  for (const Shape& s : shapes) {
    if (machine.emulated && way.dtype == DType::f32 && s.tokens * s.head_dim > 5000) continue;
    const Problem problem(s.tokens, s.heads, s.kv_heads, s.head_dim, 23);
    const std::string name = std::to_string(s.tokens) + " tokens, " + std::to_string(s.heads) + "/" +
                             std::to_string(s.kv_heads) + " heads of " + std::to_string(s.head_dim) + " [" +
                             way.name() + "]";
    checks.run("attention of generated rows agrees with double: " + name, [&] {
      for (const Problem& p : {problem, with_small_queries(problem), with_own_keys(problem)})
        decode_agrees(checks, backend, p, tensor_cores);
    });
    checks.run("attention of generated rows does not depend on batches or steps: " + name,
               [&] { decode_is_invariant(checks, backend, problem, machine.emulated ? 1 : 20); });
  }
  checks.run("attention of generated rows: no key behind the last one is read [" + way.name() + "]", [&] {
    for (const size_t head_dim : {size_t{20}, size_t{96}}) decode_reads_no_further(checks, backend, head_dim);
  });
#ifdef CARBON_CUDA_EMULATION
  if (way.dtype != DType::f32 && tensor_cores)
    checks.run("attention: the same bits in less shared memory [" + way.name() + "]",
               [&] { attention_does_not_see_shared_memory(checks, machine, way); });
#endif
  if (way.dtype != DType::f32)
    checks.run("attention of generated rows: one order of sums [" + way.name() + "]",
               [&] { decode_has_one_order(checks, backend, Problem(520, 8, 1, 64, 55)); });
  if (way.dtype == DType::bf16)
    checks.run("attention of generated rows: many sequences [" + way.name() + "]",
               [&] { decode_takes_many(checks, backend, machine.emulated ? 500 : 5000); });
}

}  // namespace

void check_attention(Checks& checks, const Machine& machine) {
  struct Shape {
    size_t tokens, heads, kv_heads, head_dim;
  };
  std::vector<Shape> shapes = {{1, 1, 1, 2},    {70, 4, 2, 20}, {129, 4, 2, 64}, {130, 8, 1, 96},
                               {66, 4, 1, 128}, {63, 3, 3, 64}, {64, 6, 2, 96},  {65, 5, 1, 128}};
  if (!machine.emulated)
    shapes.insert(shapes.end(),
                  {{1366, 16, 8, 64}, {1366, 32, 4, 96}, {1366, 32, 8, 128}, {4001, 8, 1, 128}});
  for (const Way& way : {kWays[0], kWays[1], kWays[3]}) {
    const auto backend = make(machine, way);
    // "cuda:sm_75x40...": no tensor cores for bf16.
    const bool all_types = backend->device_kind().substr(8, 2) != "75",
               tensor_cores = way.dtype == DType::f16 || all_types;
    for (const Shape& s : shapes) {
      // The plain kernel does nothing special at any head size.
      if (machine.emulated && way.dtype == DType::f32 && s.tokens * s.head_dim > 5000) continue;
      checks.run("attention agrees with double: " + std::to_string(s.tokens) + " tokens, " +
                     std::to_string(s.heads) + "/" + std::to_string(s.kv_heads) + " heads of " +
                     std::to_string(s.head_dim) + " [" + way.name() + "]",
                 [&] {
                   agrees(checks, *backend, Problem(s.tokens, s.heads, s.kv_heads, s.head_dim, 21),
                          tensor_cores);
                 });
    }
    const auto run = [&](const char* name, const std::function<void()>& body) {
      checks.run(std::string(name) + " [" + way.name() + "]", body);
    };
    run("attention: bits do not depend on cuts or pages", [&] {
      is_invariant(checks, *backend, Problem(140, 2, 1, 20, 22));
      if (way.dtype != DType::f32)
        for (const size_t head_dim : {size_t{64}, size_t{96}, size_t{128}})
          is_invariant(checks, *backend, Problem(140, 6, 2, head_dim, 22));
    });
    run("attention: a sequence does not see its neighbours", [&] {
      for (const size_t head_dim : {size_t{20}, size_t{64}})
        does_not_see_neighbours(checks, *backend, head_dim);
    });
    run("attention: alleles of a window together and alone", [&] {
      const size_t alleles = machine.emulated ? 8 : 700;
      const bool joins = way.dtype != DType::f32 && tensor_cores;
      for (const auto& [heads, kv_heads, head_dim] :
           {std::tuple<size_t, size_t, size_t>{4, 2, 64}, {8, 1, 96}, {3, 1, 128}})
        if (!machine.emulated || joins || head_dim == 64)
          reads_shared_pages_once(checks, *backend, Problem(140, heads, kv_heads, head_dim, 24), alleles,
                                  joins);
    });
    run("pages are copied and kept", [&] { copies_pages(checks, *backend); });
    if (way.dtype == DType::f16) {
      run("attention: scales change no bit", [&] {
        for (const size_t head_dim : {size_t{20}, size_t{96}})
          scales_do_not_matter(checks, *backend, head_dim);
      });
      // The plain kernel does not round queries and weights to bf16.
      if (all_types)
        run("attention: errors are a seventh of those in bf16, or less",
            [&] { errors_are_smaller(checks, *backend, *make(machine, kWays[1])); });
    }
    check_decode_attention(checks, machine, way, *backend, tensor_cores);
  }
}

}  // namespace carbon::gpu_test
