// marginals(), conditionals(), logits() and logsumexp(): against brute force in double, and hard rows. Means
// of states, which the engine reads.
#include <algorithm>

#include "src/engine/engine.hpp"
#include "test/gpu/model.hpp"

namespace carbon::gpu_test {
namespace {

constexpr size_t kKmers = ops::kKmers;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A head of one column in f32: act is {1}, so that the logits are the weights themselves.
std::vector<double> marginals_of(ops::Backend& backend, const std::vector<float>& z) {
  const auto head = backend.prepare({z.data(), DType::f32, kKmers, 1});
  const Array one(backend, std::vector<float>{1.0f});
  std::vector<double> out(ops::kMarginals);
  backend.marginals(one.get(), 1, *head, out.data());
  return out;
}

/// A row of the same logits for each of `known`.
std::vector<double> conditionals_of(ops::Backend& backend, const std::vector<float>& z,
                                    const std::vector<ops::KnownBases>& known) {
  const auto head = backend.prepare({z.data(), DType::f32, kKmers, 1});
  const Array ones(backend, std::vector<float>(known.size(), 1.0f));
  std::vector<double> out(known.size() * ops::kMarginals);
  backend.conditionals(ones.get(), known.size(), *head, known, out.data());
  return out;
}

void marginals_agree(Checks& checks, ops::Backend& backend) {
  Random random(51);
  std::vector<float> z = random.vector(kKmers, 12.0f);
  const auto compare = [&](double bound) {
    const std::vector<double> got = marginals_of(backend, z), want = testing::brute_force(z.data());
    for (size_t i = 0; i < got.size(); ++i) checks.within(std::fabs(got[i] - want[i]), bound, "a marginal");
    for (size_t j = 0; j < 6; ++j) {
      double sum = 0;
      for (size_t b = 0; b < 4; ++b) sum += std::exp(got[j * 4 + b]);
      checks.within(std::fabs(sum - 1), 1e-6, "the sum of a base");
    }
  };
  // Every exponential errs by 1.5 ulp and its argument by one rounding of |z - maximum| <= 24, twice.
  compare(2 * (3 + 24) * 0x1p-23);
  // One logit far above the rest: the other groups underflow in f32 and must still be right.
  z[1234] = 200.0f;
  compare(1e-5);
  std::fill(z.begin(), z.end(), -3e38f);
  z[0] = 3e38f;
  for (const double v : marginals_of(backend, z)) checks.that(std::isfinite(v), "a huge range");
  for (const float bad : {std::nanf(""), static_cast<float>(kInfinity), -static_cast<float>(kInfinity)})
    for (const size_t place : {size_t{0}, size_t{77}, kKmers - 1}) {
      std::fill(z.begin(), z.end(), 0.5f);
      z[place] = bad;
      for (const double v : marginals_of(backend, z)) checks.that(std::isnan(v), "not finite gives NaN");
    }
}

void conditionals_agree(Checks& checks, ops::Backend& backend) {
  const auto compare = [&](const std::vector<float>& z, const std::vector<ops::KnownBases>& known,
                           double range) {
    const std::vector<double> got = conditionals_of(backend, z, known), marginals = marginals_of(backend, z);
    for (size_t row = 0; row < known.size(); ++row) {
      const double* const mine = &got[row * ops::kMarginals];
      const std::vector<double> want = testing::brute_force(z.data(), known[row]);
      for (size_t i = 0; i < want.size(); ++i)
        checks.within(std::fabs(mine[i] - want[i]), testing::marginal_bound(range), "a conditional");
      const size_t alike = known[row] == ops::kNoneKnown ? want.size() : ops::kLetters;
      checks.that(std::memcmp(mine, marginals.data(), alike * sizeof(double)) == 0, "the bits of marginals");
    }
  };
  std::vector<float> z = Random(52).vector(kKmers, 12.0f);
  std::vector<ops::KnownBases> known;
  for (const unsigned which : {63u, 62u, 61u, 59u, 55u, 47u, 31u, 36u, 10u, 0u})
    known.push_back(testing::letters_of(which * 977 % kKmers, which));
  compare(z, known, 24);
  // One 6-mer 80 nats above the rest; then every base that differs costs 150, or 55, of which one is still
  // summed in f32 and two are not.
  const size_t peak = 1234;
  z[peak] = 92.0f;
  known.clear();
  for (const size_t kmer : {peak, peak ^ 1024, peak ^ 130, peak ^ 4095})
    for (const unsigned which : {63u, 42u, 0u}) known.push_back(testing::letters_of(kmer, which));
  for (const std::vector<float>& row :
       {z, testing::stepped_logits(53, peak, 150.0f), testing::stepped_logits(54, peak, 55.0f)})
    compare(row, known, kInfinity);
  for (const float bad : {std::nanf(""), static_cast<float>(kInfinity), -static_cast<float>(kInfinity)}) {
    std::fill(z.begin(), z.end(), 0.5f);
    z[77] = bad;
    for (const double v :
         conditionals_of(backend, z, {testing::letters_of(77, 63), testing::letters_of(4095, 63)}))
      checks.that(std::isnan(v), "not finite gives NaN");
  }
}

struct HeadProblem {
  size_t n, k, columns;
  Stored a, w;
  HeadProblem(DType type, size_t n, size_t k, size_t columns)
      : n(n),
        k(k),
        columns(columns),
        a(stored(type, Random(61).vector(n * k))),
        w(stored(DType::bf16, Random(62).vector(columns * k))) {}
};

void rows_are_invariant(Checks& checks, ops::Backend& backend, size_t n) {
  const HeadProblem p(backend.dtype(), n, 32, kKmers);
  const auto head = backend.prepare({p.w.data(), DType::bf16, p.columns, p.k});
  const size_t row_bytes = p.k * dtype_size(p.a.type);
  const Array act(backend, p.a.data(), p.n * row_bytes);
  std::vector<double> all(p.n * ops::kMarginals), one(ops::kMarginals);
  backend.marginals(act.get(), p.n, *head, all.data());
  std::vector<ops::KnownBases> known;
  for (size_t i = 0; i < p.n; ++i)
    known.push_back(
        testing::letters_of(i * 977 % kKmers, i % 3 == 0 ? 63 : static_cast<unsigned>(i * 29 % 64)));
  std::vector<double> given(all.size());
  backend.conditionals(act.get(), p.n, *head, known, given.data());
  std::vector<float> logits(p.n * kKmers);
  backend.logits(act.get(), p.n, *head, logits.data());
  for (size_t i = 0; i < p.n; i += 1 + p.n / 5) {
    backend.marginals(act.at(i * row_bytes), 1, *head, one.data());
    checks.that(std::memcmp(one.data(), &all[i * ops::kMarginals], sizeof(double) * one.size()) == 0,
                "row " + std::to_string(i) + " alone");
    const std::vector<double> want = testing::brute_force(&logits[i * kKmers]);
    for (size_t m = 0; m < want.size(); ++m) checks.within(std::fabs(one[m] - want[m]), 4e-6, "from logits");
    backend.conditionals(act.at(i * row_bytes), 1, *head, {&known[i], 1}, one.data());
    checks.that(std::memcmp(one.data(), &given[i * ops::kMarginals], sizeof(double) * one.size()) == 0,
                "conditionals of row " + std::to_string(i) + " alone");
    const std::vector<double> want_given = testing::brute_force(&logits[i * kKmers], known[i]);
    // |z| is at most 32, the number of products of numbers below 1.
    for (size_t m = 0; m < want.size(); ++m)
      checks.within(std::fabs(one[m] - want_given[m]), testing::marginal_bound(2 * 32), "from logits");
  }
}

void logsumexp_agrees(Checks& checks, ops::Backend& backend) {
  const HeadProblem p(backend.dtype(), 5, 24, 700);
  const size_t row_bytes = p.k * dtype_size(p.a.type), cut = 300;
  const Array act(backend, p.a.data(), p.n * row_bytes);
  const TensorView whole{p.w.data(), DType::bf16, p.columns, p.k};
  const auto all = backend.prepare(whole), first = backend.prepare(whole.slice_rows(0, cut)),
             second = backend.prepare(whole.slice_rows(cut, p.columns - cut));
  std::vector<float> logits(p.n * p.columns);
  backend.logits(act.get(), p.n, *all, logits.data());
  std::vector<double> maximum(p.n, -kInfinity), sum(p.n, 0.0), target(p.n, 0.0);
  const std::vector<int64_t> targets{0, 299, 300, 699, 123};
  std::vector<int64_t> later = targets;
  for (int64_t& t : later) t -= static_cast<int64_t>(cut);
  backend.logsumexp(act.get(), p.n, *first, targets, maximum.data(), sum.data(), target.data());
  backend.logsumexp(act.get(), p.n, *second, later, maximum.data(), sum.data(), target.data());
  for (size_t i = 0; i < p.n; ++i) {
    const float* const z = &logits[i * p.columns];
    double want = 0;
    for (size_t j = 0; j < p.columns; ++j) want += std::exp(static_cast<double>(z[j]));
    checks.within(std::fabs(maximum[i] + std::log(sum[i]) - std::log(want)), 4e-6, "a sum");
    checks.that(maximum[i] == static_cast<double>(*std::max_element(z, z + p.columns)), "the maximum");
    checks.within(std::fabs(target[i] - static_cast<double>(z[targets[i]])), 1e-5, "a target");
  }
  const std::vector<float> bad{1.0f, std::nanf(""), 2.0f};
  const auto poisoned = backend.prepare({bad.data(), DType::f32, 3, 1});
  const Stored ones = stored(backend.dtype(), {1.0f, 1.0f});
  const Array one(backend, ones.data(), 2 * dtype_size(ones.type));
  backend.logsumexp(one.get(), 1, *poisoned, std::span(targets).first(1), maximum.data(), sum.data(),
                    target.data());
  checks.that(std::isnan(sum[0]), "not finite makes the sum NaN");
  checks.refused([&] { backend.logsumexp(act.get(), p.n, *all, {}, nullptr, nullptr, nullptr); }, "targets");
  checks.refused([&] { backend.marginals(act.get(), p.n, *all, nullptr); }, "6-mers");
  checks.refused([&] { backend.conditionals(act.get(), p.n, *all, {}, nullptr); }, "conditionals need");
  const std::vector<float> flat(kKmers * p.k, 0.0f);
  const auto kmers = backend.prepare({flat.data(), DType::f32, kKmers, p.k});
  checks.refused([&] { backend.conditionals(act.get(), p.n, *kmers, {}, nullptr); }, "for 5 rows");
}

/// A mean that the engine takes on the device is exactly that of the states, however sequences are cut.
void means_are_of_the_states(Checks& checks, const Machine& machine, int layer) {
  const GeneratedCheckpoint files(tiny("--head-dim 64 --heads 2 --kv-heads 1 --layers 2"));
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  const size_t hidden = checkpoint->config().hidden;
  constexpr size_t kTokens = 70, kFirst = 3, kSequences = 2;
  const std::vector<uint32_t> targets{1, 31};
  for (const size_t batch : {size_t{1024}, size_t{33}}) {
    LoadedModel model(checkpoint, make(machine, kWays[1]), batch, 1);
    Engine engine({&model});
    std::vector<RequestPtr> requests;
    for (size_t i = 0; i < 2 * kSequences; ++i) {
      const RequestPtr& request = requests.emplace_back(std::make_shared<Request>());
      request->tokens = random_tokens(*checkpoint, kTokens + i / 2, static_cast<unsigned>(i / 2));
      request->head = i % 2 == 0 ? HeadKind::hidden : HeadKind::mean_hidden;
      request->want_begin = kFirst;
      request->layer = layer;
      if (i % 2 == 1) request->targets = targets;
    }
    run_requests(engine, requests);
    for (size_t i = 0; i < 2 * kSequences; i += 2) {
      const std::vector<float>& states = requests[i]->states;
      const size_t rows = states.size() / hidden;
      std::vector<double> sums(hidden);
      std::vector<float> want;
      for (size_t row = 0; row < rows; ++row) {
        for (size_t j = 0; j < hidden; ++j) sums[j] += static_cast<double>(states[row * hidden + j]);
        if (row + 1 != rows && std::ranges::find(targets, row + 1) == targets.end()) continue;
        for (const double sum : sums) want.push_back(static_cast<float>(sum / static_cast<double>(row + 1)));
      }
      checks.that(rows == kTokens + i / 2 - kFirst && same_bits(want, requests[i + 1]->states),
                  "sequence " + std::to_string(i / 2) + ", batches of " + std::to_string(batch));
    }
  }
}

}  // namespace

void check_heads(Checks& checks, const Machine& machine) {
  for (const Way& way : kWays) {
    const auto backend = make(machine, way);
    const auto run = [&](const char* name, const std::function<void()>& body) {
      checks.run(std::string(name) + " [" + way.name() + "]", body);
    };
    if (way.dtype == DType::f32) {
      run("marginals agree with brute force, hard rows too", [&] { marginals_agree(checks, *backend); });
      run("conditionals agree with brute force, hard rows too",
          [&] { conditionals_agree(checks, *backend); });
    }
    run("marginals and conditionals: a row does not see its neighbours",
        [&] { rows_are_invariant(checks, *backend, machine.emulated ? 12 : 1100); });
    run("logsumexp over slices agrees with double", [&] { logsumexp_agrees(checks, *backend); });
  }
  for (const int layer : {kFinalNorm, 1})
    checks.run("means are exactly those of the states, of " +
                   (layer == kFinalNorm ? std::string("the last layer after its norm") : "layer 1"),
               [&] { means_are_of_the_states(checks, machine, layer); });
}

}  // namespace carbon::gpu_test
