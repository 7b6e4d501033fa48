// What the scheduler does for a server: prompts that begin alike share keys and values, prompts come in
// slices beside streams, drawn 6-mers have ranks. None of it shows in a bit of a result.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>

#include "src/engine/request_queue.hpp"
#include "src/engine/scheduler.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;

namespace {

constexpr SchedulerOptions kServer{true, true, 8};

RequestPtr sample(std::vector<uint32_t> tokens, size_t bases, uint64_t seed, bool rank = false) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  auto new_bases = std::make_shared<NewBases>();
  new_bases->length = bases;
  SamplerOptions sampler;
  sampler.seed = seed;
  request->generation = {new_bases, sampler, 0, 0, nullptr, rank};
  request->keep_prefix = true;
  return request;
}

RequestPtr last_row(std::vector<uint32_t> tokens, HeadKind head) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = head;
  request->want_begin = request->tokens.size() - 1;
  request->keep_prefix = true;
  return request;
}

// The same question, to be answered without kept prefixes.
RequestPtr copy_of(const Request& request) {
  const auto copy = std::make_shared<Request>();
  copy->tokens = request.tokens;
  copy->head = request.head;
  copy->want_begin = request.want_begin;
  copy->targets = request.targets;
  copy->generation = request.generation;
  return copy;
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

void check_alone(TestEngine& lone, const Request& request) {
  const RequestPtr alone = copy_of(request);
  run_requests(lone.get(), {alone});
  CHECK(request.outcome == Outcome::done);
  CHECK(request.kmers == alone->kmers);
  CHECK(request.logp == alone->logp);
  CHECK(same_bits<float>(request.states, alone->states));
  CHECK(same_bits(request.values(), alone->values()));
}

std::vector<uint32_t> joined(std::vector<uint32_t> first, const std::vector<uint32_t>& then) {
  first.insert(first.end(), then.begin() + 1, then.end());
  return first;
}

// Prompts of which many begin alike: equal ones, longer and shorter ones, and some with another end.
std::vector<RequestPtr> alike(const TokenLayout& layout) {
  const std::vector<uint32_t> begin = random_tokens(layout, 150, 1);
  const std::vector<uint32_t> longer = joined(begin, random_tokens(layout, 80, 2));
  std::vector<RequestPtr> all;
  all.push_back(sample(begin, 60, 1));
  all.push_back(sample(begin, 60, 2, true));
  all.push_back(sample(longer, 36, 3));
  all.push_back(sample({begin.begin(), begin.begin() + 100}, 36, 4));
  all.push_back(sample(joined(begin, random_tokens(layout, 90, 3)), 36, 5));
  all.push_back(last_row(longer, HeadKind::hidden));
  all.push_back(last_row(joined(longer, random_tokens(layout, 10, 4)), HeadKind::kmer_logits));
  all.push_back(sample(random_tokens(layout, 40, 5), 36, 6));
  all.push_back(sample(longer, 36, 7));
  return all;
}

}  // namespace

TEST_CASE("prompts that begin alike share keys and values, and no bit of a result shows it") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  for (const size_t batch_tokens : {size_t{4096}, size_t{64}, size_t{1}}) {
    CAPTURE(batch_tokens);
    TestEngine engine(files.dir(), batch_tokens);
    const std::vector<RequestPtr> asked = alike(engine.get().config().layout);
    SUBCASE("one after the other") {
      Scheduler scheduler(engine.model(), nullptr, kServer);
      for (const RequestPtr& request : asked) {
        scheduler.add(request);
        while (scheduler.step()) {
        }
      }
      const SchedulerCounts counts = scheduler.counts();
      // In order: nothing; all but the last token of `begin`; `begin`; 99 tokens; `begin`; `longer` but its
      // last token; `longer`; nothing; `longer` but its last token.
      if (batch_tokens == 4096) CHECK(counts.prefix_hits == 149 + 150 + 99 + 150 + 228 + 229 + 228);
      if (batch_tokens == 4096) CHECK(scheduler.state().kept_pages > 0);
      CHECK(scheduler.state().running + scheduler.state().waiting == 0);
      scheduler.clear();
      CHECK(engine.model().decoder().kv().pages_in_use() == 0);
    }
    SUBCASE("together") {
      Scheduler scheduler(engine.model(), nullptr, kServer);
      for (const RequestPtr& request : asked) scheduler.add(request);
      while (scheduler.step()) {
      }
      scheduler.clear();
      CHECK(engine.model().decoder().kv().pages_in_use() == 0);
    }
    for (const RequestPtr& request : asked) check_alone(lone, *request);
  }
}

TEST_CASE("kept prefixes give way to requests that need the memory") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096), engine(files.dir(), 128);
  const TokenLayout& layout = engine.get().config().layout;
  Scheduler scheduler(engine.model(), nullptr, kServer);
  for (unsigned seed = 1; seed < 12; ++seed) {
    const RequestPtr request = sample(random_tokens(layout, 400, seed), 12, seed);
    scheduler.add(request);
    while (scheduler.step()) CHECK(scheduler.state().pages <= scheduler.state().page_limit + 1);
    check_alone(lone, *request);
  }
  // Those of the prefix cache, and two finished parents.
  CHECK(scheduler.state().kept_pages <= scheduler.state().page_limit / 2 + 1);
}

TEST_CASE("a short prompt does not wait for a long one, and streams go on beside both") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096), engine(files.dir(), 4096);
  const TokenLayout& layout = engine.get().config().layout;
  Scheduler scheduler(engine.model(), nullptr, kServer);
  const RequestPtr stream = sample(random_tokens(layout, 20, 1), 1800, 1);
  scheduler.add(stream);
  while (stream->kmers.size() < 3) scheduler.step();
  const RequestPtr long_prompt = sample(random_tokens(layout, 1500, 2), 6, 2);
  const RequestPtr short_prompt = sample(random_tokens(layout, 30, 3), 6, 3);
  long_prompt->owner = 1;
  short_prompt->owner = 2;
  scheduler.add(long_prompt);
  scheduler.add(short_prompt);
  bool short_first = false;
  while (!scheduler.idle()) {
    const size_t before = stream->kmers.size();
    scheduler.step();
    if (stream->outcome == Outcome::pending) CHECK(stream->kmers.size() == before + 1);
    short_first = short_first || (short_prompt->outcome == Outcome::done && long_prompt->kmers.empty());
  }
  CHECK(short_first);
  for (const RequestPtr& request : {stream, long_prompt, short_prompt}) check_alone(lone, *request);
}

namespace {

RequestPtr owned(RequestPtr request, uint64_t owner) {
  request->owner = owner;
  return request;
}

}  // namespace

TEST_CASE("a small request waits for few passes of a large one, whatever that is") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096), engine(files.dir(), 64);
  const TokenLayout& layout = engine.get().config().layout;
  for (const bool interactive : {false, true})
    for (const char* const large : {"windows", "long windows", "samples", "states of another layer"}) {
      CAPTURE(interactive);
      CAPTURE(large);
      Scheduler scheduler(engine.model(), nullptr, {interactive, true, 8});
      RequestQueue queue;
      std::vector<RequestPtr> all;
      for (unsigned i = 0; i < 100; ++i) {
        const std::string_view kind = large;
        const RequestPtr one =
            kind == "samples"
                ? sample(random_tokens(layout, 20, i), 600, i)
                : last_row(random_tokens(layout, kind == "long windows" ? 300 : 50, i), HeadKind::hidden);
        if (kind == "states of another layer") one->layer = 1;
        all.push_back(owned(one, 7));
      }
      queue.push(all);
      const auto step = [&] {
        for (const RequestPtr& request : queue.take(0, scheduler.pass_limit(), scheduler.known_rows(), false,
                                                    [](auto&) { return false; }))
          scheduler.add(request);
        scheduler.step();
      };
      for (int passes = 0; passes < 12; ++passes) step();
      const RequestPtr small = owned(sample(random_tokens(layout, 5, 1000), 6, 1), 8);
      queue.push({small});
      size_t passes = 0;
      for (; small->outcome == Outcome::pending; ++passes) step();
      // One pass whose time is measured, if the server's policy asks for it, and one with it.
      CHECK(passes <= 3);
      check_alone(lone, *small);
      for (const RequestPtr& request : all) request->cancelled = true;
      while (scheduler.step()) continue;
    }
}

TEST_CASE("owners have equal parts of the passes, however much each of them asks for") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 64);
  const TokenLayout& layout = engine.get().config().layout;
  Scheduler scheduler(engine.model(), nullptr, {false, true, 8});
  std::map<uint64_t, size_t> done;
  std::vector<RequestPtr> all;
  for (unsigned i = 0; i < 90; ++i) {
    // Owner 1 has 70 windows, and 2 and 3 have ten each.
    const uint64_t owner = i < 70 ? 1 : i < 80 ? 2 : 3;
    const RequestPtr one = owned(last_row(random_tokens(layout, 50, i), HeadKind::hidden), owner);
    one->finished = [&done, owner](Request&) { ++done[owner]; };
    all.push_back(one);
    scheduler.add(one);
  }
  while (done[2] < 10 || done[3] < 10) scheduler.step();
  CHECK(done[1] >= 8);
  CHECK(done[1] <= 12);
  while (scheduler.step()) continue;
  CHECK(done[1] == 70);
  // More owners than rows in a pass: none is forgotten.
  TestEngine narrow(files.dir(), 4);
  Scheduler crowded(narrow.model(), nullptr, {false, true, 64});
  std::vector<RequestPtr> many;
  for (unsigned i = 0; i < 40; ++i) {
    many.push_back(owned(last_row(random_tokens(layout, 6, 500 + i), HeadKind::hidden), i));
    crowded.add(many.back());
  }
  while (crowded.step()) continue;
  for (const RequestPtr& request : many) CHECK(request->outcome == Outcome::done);
}

TEST_CASE("ranks are those of the logits") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300);
  const TokenLayout& layout = engine.get().config().layout;
  const std::vector<uint32_t> tokens = random_tokens(layout, 400, 1);
  const RequestPtr ranks = last_row(tokens, HeadKind::kmer_ranks),
                   logits = last_row(tokens, HeadKind::kmer_logits);
  ranks->want_begin = logits->want_begin = 7;
  for (size_t i = 7; i < tokens.size(); ++i)
    ranks->targets.push_back(i % 5 == 0 ? kNoKmer : static_cast<uint32_t>(i * 9));
  run_requests(engine.get(), {ranks, logits});
  REQUIRE(ranks->values().size() == 393 * kRankWidth);
  for (size_t row = 0; row < 393; ++row) {
    const float* const z = logits->states.data() + row * ops::kKmers;
    double total = 0;
    for (size_t v = 0; v < ops::kKmers; ++v) total += std::exp(double{z[v]});
    const double* const got = ranks->values().data() + row * kRankWidth;
    const uint32_t target = ranks->targets[row];
    if (target == kNoKmer) {
      CHECK((got[0] == 0 && got[1] == 0));
    } else {
      CHECK(got[0] == doctest::Approx(double{z[target]} - std::log(total)).epsilon(1e-9));
      CHECK(got[1] == 1 + std::count_if(z, z + ops::kKmers, [&](float other) { return other > z[target]; }));
    }
    std::vector<float> sorted(z, z + ops::kKmers);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (size_t i = 0; i < kRanked; ++i) {
      CHECK(z[static_cast<size_t>(got[2 + 2 * i])] == sorted[i]);
      CHECK(got[3 + 2 * i] == doctest::Approx(double{sorted[i]} - std::log(total)).epsilon(1e-9));
    }
  }
}

TEST_CASE("a sample's ranks add up to its log-probability, and respect the bases that are given") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 300);
  const TokenLayout& layout = engine.get().config().layout;
  const RequestPtr whole = sample(random_tokens(layout, 90, 1), 60, 5, true);
  const RequestPtr begun = sample(random_tokens(layout, 90, 1), 9, 5, true);
  auto bases = std::make_shared<NewBases>();
  bases->given = 3;
  bases->length = 9;
  for (const char base : {'A', 'C', 'G'}) bases->sets.push_back(iupac_bases(base));
  begun->generation->bases = bases;
  run_requests(engine.get(), {whole, begun});
  REQUIRE(whole->values().size() == 10 * kRankWidth);
  double sum = 0;
  for (size_t i = 0; i < 10; ++i) sum += whole->values()[i * kRankWidth];
  CHECK(sum == whole->logp);
  REQUIRE(begun->values().size() == 2 * kRankWidth);
  CHECK(begun->values()[0] + begun->values()[kRankWidth] == begun->logp);
  for (size_t i = 0; i < kRanked; ++i)
    CHECK(kmer_text(static_cast<size_t>(begun->values()[2 + 2 * i]), kKmerLength).starts_with("ACG"));
}

TEST_CASE("slices beside streams take about the time of the streams") {
  SlicePolicy policy;
  CHECK(policy.rows(0, 1, 2048) == 256);
  policy.record(0, 256, 0.256);
  CHECK(policy.rows(0, 1, 2048) == 250);
  CHECK(policy.rows(0, 1, 100) == 100);
  CHECK(policy.rows(4, 1, 512) == 0);  // the time of four samples is not known
  policy.record(4, 0, 0.04);
  CHECK(policy.rows(4, 1, 512) == 16);
  policy.record(4, 16, 0.04 + 0.016);
  CHECK(policy.rows(4, 1, 512) == 40);
  CHECK(policy.rows(5, 1, 512) == 40);
  CHECK(policy.rows(8, 1, 512) == 0);
  CHECK(policy.rows(4, 1, 20) == 20);
  // Twelve prompts beside four streams get three times as much, but no more than a quarter of a second.
  CHECK(policy.rows(4, 12, 512) == 120);
  CHECK(policy.rows(4, 400, 512) == 250);
}
