// The scheduler: whatever runs beside a request, it gets the bits that it has alone; requests fail, are
// cancelled and share their work without their neighbours noticing; passes are full.
#include "src/engine/scheduler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "src/base/error.hpp"
#include "test/unit/test_engine.hpp"
#include "test/unit/wrapped_cpu.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon::test::WrappedCpu;

namespace {

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
bool same_results(const Request& a, const Request& b) {
  return a.outcome == b.outcome && same_bits(a.values(), b.values()) &&
         same_bits<float>(a.states, b.states) && a.kmers == b.kmers &&
         std::memcmp(&a.logp, &b.logp, sizeof a.logp) == 0;
}

RequestPtr window(std::vector<uint32_t> tokens, size_t want_begin, HeadKind head = HeadKind::marginals) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = head;
  request->want_begin = want_begin;
  return request;
}

RequestPtr fork_of(const RequestPtr& parent, size_t shared, std::vector<uint32_t> tokens) {
  const auto request = window(std::move(tokens), 0);
  request->parent = parent;
  request->shared = shared;
  ++parent->forks;
  return request;
}

RequestPtr sample(std::vector<uint32_t> tokens, size_t bases, const SamplerOptions& sampler,
                  uint32_t number = 0) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  auto new_bases = std::make_shared<NewBases>();
  new_bases->length = bases;
  request->generation = {new_bases, sampler, 3, number, nullptr};
  return request;
}

RequestPtr sample_of(const RequestPtr& prompt, size_t bases, const SamplerOptions& sampler, uint32_t number) {
  const RequestPtr request = sample({}, bases, sampler, number);
  request->parent = prompt;
  request->shared = prompt->tokens.size();
  ++prompt->forks;
  return request;
}

// The same question once more, without an answer.
RequestPtr copy_of(const Request& request, const RequestPtr& parent) {
  const auto copy = std::make_shared<Request>();
  copy->parent = parent;
  copy->shared = request.shared;
  copy->tokens = request.tokens;
  copy->head = request.head;
  copy->want_begin = request.want_begin;
  copy->want_end = request.want_end;
  copy->targets = request.targets;
  copy->layer = request.layer;
  copy->generation = request.generation;
  if (parent) ++parent->forks;
  return copy;
}

// A request with its parent, run by themselves in one pass each.
RequestPtr alone(TestEngine& engine, const Request& request) {
  std::vector<RequestPtr> requests;
  if (request.parent) requests.push_back(copy_of(*request.parent, nullptr));
  requests.push_back(copy_of(request, request.parent ? requests.front() : nullptr));
  run_requests(engine.get(), requests);
  return requests.back();
}

// Windows, forks, embeddings of two layers, token scores and samples with options of their own.
std::vector<RequestPtr> mixture(const TokenLayout& layout) {
  std::vector<RequestPtr> all;
  const RequestPtr reference = window(random_tokens(layout, 300, 1), 120);
  all = {reference, fork_of(reference, 130, random_tokens(layout, 90, 2)),
         fork_of(reference, 64, random_tokens(layout, 200, 3)), window(random_tokens(layout, 40, 4), 0)};
  const RequestPtr token_level = window(random_tokens(layout, 70, 5), 3, HeadKind::token_logprobs);
  for (size_t i = 3; i < 70; ++i)
    token_level->targets.push_back(layout.kmer0() + static_cast<uint32_t>(i * 7));
  all.push_back(token_level);
  for (const int layer : {kFinalNorm, 1, 2}) {
    all.push_back(window(random_tokens(layout, 90, 6), 20, HeadKind::hidden));
    all.push_back(window(random_tokens(layout, 90, 6), 1, HeadKind::mean_hidden));
    all[all.size() - 1]->layer = all[all.size() - 2]->layer = layer;
  }
  for (const RequestPtr& parent : {reference, RequestPtr()}) {  // other readings of the same rows
    all.push_back(parent ? fork_of(parent, 130, random_tokens(layout, 90, 2))
                         : window(random_tokens(layout, 300, 1), 0));
    all.back()->head = HeadKind::mean_hidden;
    all.back()->targets = {1, 17, 60};
    all.push_back(copy_of(*all.back(), parent));
    all.back()->head = HeadKind::token_logprobs;
    all.back()->targets.assign(all.back()->tokens.size(), layout.kmer0() + 5);
  }
  for (const HeadKind head :
       {HeadKind::hidden, HeadKind::mean_hidden, HeadKind::marginals}) {  // and of a part
    all.push_back(fork_of(reference, 130, random_tokens(layout, 90, 2)));
    all.push_back(window(random_tokens(layout, 300, 1), 10));
    for (const RequestPtr& part : {all[all.size() - 2], all.back()}) {
      part->head = head;
      part->want_begin += 20;
      part->want_end = part->want_begin + 31;
    }
  }
  const RequestPtr prompt = window(random_tokens(layout, 100, 7), 99, HeadKind::kmer_logits);
  all.push_back(prompt);
  for (uint32_t i = 0; i < 5; ++i)
    all.push_back(sample_of(prompt, 60, {SamplerKind::kmer, false, 1, 0, 1, 11}, i));
  all.push_back(sample_of(prompt, 6, {SamplerKind::chain, false, 0.7, 0, 1, 12}, 9));
  all.push_back(sample(random_tokens(layout, 33, 8), 90, {SamplerKind::marginal, false, 1.3, 2, 0.8, 5}));
  all.push_back(sample(random_tokens(layout, 33, 8), 30, {SamplerKind::kmer, true}));
  all.push_back(sample(random_tokens(layout, 65, 9), 31, {SamplerKind::kmer, false, 0.5, 20, 0.9, 6}));
  return all;
}

std::vector<RequestPtr> copies(const std::vector<RequestPtr>& requests) {
  std::vector<RequestPtr> out;
  for (const RequestPtr& request : requests) {
    const auto parent = std::find(requests.begin(), requests.end(), request->parent);
    out.push_back(
        copy_of(*request, request->parent ? out[static_cast<size_t>(parent - requests.begin())] : nullptr));
  }
  return out;
}

}  // namespace

TEST_CASE("a request has the bits of a lone run, whatever runs beside it and however passes are cut") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  TestEngine first(files.dir(), 4096);
  const TokenLayout& layout = first.get().config().layout;
  const std::vector<RequestPtr> asked = mixture(layout);
  std::vector<RequestPtr> want;
  for (const RequestPtr& request : asked) want.push_back(alone(lone, *request));
  for (const RequestPtr& request : want) REQUIRE(request->outcome == Outcome::done);
  CHECK(want.back()->kmers.size() == 6);
  CHECK(want[3]->values().size() == 40 * ops::kMarginals);
  for (const size_t batch_tokens : {1u, 7u, 64u, 200u, 4096u}) {
    CAPTURE(batch_tokens);
    TestEngine engine(files.dir(), batch_tokens);
    const std::vector<RequestPtr> together = copies(asked);
    run_requests(engine.get(), together);
    for (size_t i = 0; i < asked.size(); ++i) {
      CAPTURE(i);
      CHECK(same_results(*together[i], *want[i]));
    }
    CHECK(engine.model().decoder().kv().pages_in_use() == 0);
  }
}

TEST_CASE("a request that says where its rows end gets those of a whole one, from the same run") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 64);
  const TokenLayout& layout = engine.get().config().layout;
  const std::vector<uint32_t> tokens = random_tokens(layout, 300, 1);
  // Without the keys and values of a parent, the shared tokens are computed again.
  for (const bool without_parent : {false, true}) {
    const RequestPtr parent = window(random_tokens(layout, 50, 2), 49);
    std::vector<RequestPtr> whole, part;
    for (const HeadKind head : {HeadKind::marginals, HeadKind::hidden}) {
      whole.push_back(fork_of(parent, 40, tokens));
      whole.back()->head = head;
      part.push_back(copy_of(*whole.back(), parent));
      part.back()->want_begin = 33;
      part.back()->want_end = 161;
    }
    const RequestPtr sums = copy_of(*part[1], parent);
    sums->head = HeadKind::mean_hidden;
    Scheduler scheduler(engine.model());
    for (const RequestPtr& request : {parent, whole[0], part[0], part[1], sums}) scheduler.add(request);
    parent->cancelled = without_parent;
    while (scheduler.step()) continue;
    CHECK(scheduler.counts().rows == (without_parent ? 40 : 50) + 300);
    scheduler.add(whole[1]);  // all rows of states are those of a separate run
    while (scheduler.step()) continue;
    CHECK(same_bits(part[0]->values(),
                    whole[0]->values().subspan(33 * ops::kMarginals, 128 * ops::kMarginals)));
    const size_t hidden = engine.get().config().hidden;
    const auto rows = std::span<const float>(whole[1]->states).subspan(33 * hidden, 128 * hidden);
    CHECK(same_bits<float>(part[1]->states, rows));
    for (size_t i = 0; i < hidden; ++i) {
      double sum = 0;
      for (size_t row = 0; row < 128; ++row) sum += static_cast<double>(rows[row * hidden + i]);
      REQUIRE(sums->states[i] == static_cast<float>(sum / 128));
    }
    const ResultSizes sizes = result_sizes(engine.get().config());
    CHECK(part[1]->bytes(sizes) < whole[1]->bytes(sizes));
  }
}

TEST_CASE("samples of one batch have sampling parameters of their own") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  TestEngine engine(files.dir(), 4096);
  const TokenLayout& layout = engine.get().config().layout;
  const SamplerOptions cold{SamplerKind::kmer, false, 0.3, 0, 1, 1},
      hot{SamplerKind::kmer, false, 3, 0, 1, 1}, chain{SamplerKind::chain, false, 1, 2, 1, 2};
  std::vector<RequestPtr> requests;
  for (const SamplerOptions& options : {cold, hot, chain})
    requests.push_back(sample(random_tokens(layout, 20, 1), 120, options));
  run_requests(engine.get(), requests);
  for (const RequestPtr& request : requests) CHECK(same_results(*request, *alone(lone, *request)));
  CHECK(requests[0]->kmers != requests[1]->kmers);
  CHECK(requests[0]->logp > requests[1]->logp);
  // All three drew in the same passes: one for the prompts, and one for each further 6-mer.
  CHECK(engine.get().counts().sample_passes == 19);
}

TEST_CASE("a request that cannot be run, or is not finite, fails alone") {
  const GeneratedCheckpoint files(tiny("--max-positions 128"));
  TestEngine lone(files.dir(), 4096);
  TestEngine engine(files.dir(), 4096);
  const TokenLayout& layout = engine.get().config().layout;
  const RequestPtr good = window(random_tokens(layout, 50, 1), 0);
  const RequestPtr too_long = window(random_tokens(layout, 129, 2), 0);
  const RequestPtr no_token = window({layout.begin(), 4224}, 0);
  const RequestPtr long_sample = sample(random_tokens(layout, 100, 3), 6 * 30, {});
  const RequestPtr empty = window({}, 0);
  const RequestPtr child = fork_of(too_long, 10, random_tokens(layout, 5, 3));
  const RequestPtr no_layer = window(random_tokens(layout, 5, 1), 0, HeadKind::hidden);
  no_layer->layer = 4;
  const std::vector<RequestPtr> all{too_long, no_token, good, long_sample, empty, child, no_layer};
  run_requests(engine.get(), all);
  for (const RequestPtr& request : all)
    CHECK(request->outcome == (request == good ? Outcome::done : Outcome::refused));
  CHECK(too_long->problem == "a sequence of 129 tokens does not fit the model's context of 128 tokens");
  CHECK(no_token->problem.find("outside the model's vocabulary") != std::string::npos);
  CHECK(long_sample->problem == "a sequence of 129 tokens does not fit the model's context of 128 tokens");
  CHECK(child->problem == too_long->problem);
  CHECK(no_layer->problem == "the model has no layer 4");
  CHECK(same_results(*good, *alone(lone, *good)));
  CHECK(engine.model().decoder().kv().pages_in_use() == 0);
}

TEST_CASE("a row that is not finite is an outcome of its request alone") {
  const GeneratedCheckpoint files(tiny("--dtype f32 --tied 0"));
  const std::string path = files.dir() + "/model.safetensors";
  std::FILE* const file = std::fopen(path.c_str(), "r+b");
  REQUIRE(file != nullptr);
  uint64_t header = 0;
  REQUIRE(std::fread(&header, 8, 1, file) == 1);
  std::string text(header, ' ');
  REQUIRE(std::fread(text.data(), 1, header, file) == header);
  // The embedding of one 6-mer becomes NaN.
  const size_t at = text.find("model.embed_tokens.weight"), offsets = text.find("\"data_offsets\":[", at);
  const uint64_t begin = std::stoull(text.substr(offsets + 16));
  const TokenLayout layout = Checkpoint(files.dir()).config().layout;
  const uint32_t bad = layout.kmer0() + 5;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::fseek(file, static_cast<long>(8 + header + begin + uint64_t{bad} * 64 * sizeof(float)), SEEK_SET);
  std::fwrite(&nan, sizeof nan, 1, file);
  std::fclose(file);

  TestEngine engine(files.dir(), 4096), lone(files.dir(), 4096);
  const auto clean = [&](size_t n, unsigned seed) {
    std::vector<uint32_t> tokens = random_tokens(layout, n, seed);
    for (uint32_t& token : tokens) token += token == bad ? 1 : 0;
    return tokens;
  };
  std::vector<uint32_t> broken = clean(60, 1);
  broken[30] = bad;
  const RequestPtr good = window(clean(60, 2), 0), nan_window = window(broken, 10),
                   before = window(broken, 59);
  const RequestPtr prompt = sample(broken, 60, {}), fine = sample(clean(60, 2), 60, {});
  run_requests(engine.get(), {good, nan_window, before, prompt, fine});
  CHECK(good->outcome == Outcome::done);
  CHECK(nan_window->outcome == Outcome::not_finite);
  CHECK(std::isfinite(nan_window->values()[0]));
  CHECK(std::isnan(nan_window->values()[20 * ops::kMarginals]));
  CHECK(prompt->outcome == Outcome::not_finite);
  CHECK(prompt->kmers.empty());
  CHECK(same_results(*good, *alone(lone, *good)));
  CHECK(fine->kmers.size() == 10);
  CHECK(same_results(*fine, *alone(lone, *fine)));
}

TEST_CASE("a cancelled request frees its pages at the next step and disturbs nobody") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  TestEngine engine(files.dir(), 64);
  Scheduler scheduler(engine.model());
  const TokenLayout& layout = engine.get().config().layout;
  const RequestPtr one = sample(random_tokens(layout, 20, 1), 600, {}, 1),
                   two = sample(random_tokens(layout, 20, 1), 600, {}, 2);
  const RequestPtr long_window = window(random_tokens(layout, 2000, 2), 1999),
                   waiting = window(random_tokens(layout, 70, 3), 0);
  int told = 0;
  for (const RequestPtr& request : {two, long_window, waiting}) request->finished = [&](Request&) { ++told; };
  for (const RequestPtr& request : {one, two, long_window, waiting}) scheduler.add(request);
  for (int i = 0; i < 8; ++i) scheduler.step();
  REQUIRE(one->kmers.size() > 2);
  const size_t pages = engine.model().decoder().kv().pages_in_use(), drawn = two->kmers.size();
  for (const RequestPtr& request : {two, long_window, waiting}) request->cancelled = true;
  scheduler.step();
  CHECK(told == 3);
  for (const RequestPtr& request : {two, long_window, waiting}) CHECK(request->outcome == Outcome::cancelled);
  CHECK(two->kmers.size() == drawn);
  CHECK(engine.model().decoder().kv().pages_in_use() == 1);
  CHECK(pages > 1);
  while (scheduler.step()) continue;
  CHECK(one->outcome == Outcome::done);
  CHECK(one->kmers.size() == 100);
  CHECK(same_results(*one, *alone(lone, *one)));
  CHECK(engine.model().decoder().kv().pages_in_use() == 0);
}

TEST_CASE("a cancelled parent does not take its children along") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  TestEngine engine(files.dir(), 64);
  Scheduler scheduler(engine.model());
  const TokenLayout& layout = engine.get().config().layout;
  const RequestPtr parent = window(random_tokens(layout, 300, 1), 299);
  const RequestPtr child = fork_of(parent, 200, random_tokens(layout, 30, 2));
  scheduler.add(parent);
  scheduler.add(child);
  scheduler.step();
  parent->cancelled = true;
  while (scheduler.step()) continue;
  CHECK(parent->outcome == Outcome::cancelled);
  CHECK(child->outcome == Outcome::done);
  CHECK(same_results(*child, *alone(lone, *child)));
}

TEST_CASE("equal requests run once, and forks share what they share") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  const TokenLayout layout = Checkpoint(files.dir()).config().layout;
  const auto ask = [&](unsigned alternative, size_t want_begin) {
    const RequestPtr reference = window(random_tokens(layout, 40, 1), want_begin);
    return std::vector<RequestPtr>{reference, fork_of(reference, 12, random_tokens(layout, 20, alternative))};
  };
  const auto run = [&](const std::vector<std::vector<RequestPtr>>& sites, size_t batch_tokens) {
    TestEngine engine(files.dir(), batch_tokens);
    std::vector<RequestPtr> all;
    for (const auto& site : sites) all.insert(all.end(), site.begin(), site.end());
    run_requests(engine.get(), all);
    for (const RequestPtr& request : all) CHECK(same_results(*request, *alone(lone, *request)));
    return engine.get().counts().rows;
  };
  for (const size_t batch_tokens : {4096u, 16u}) {
    CAPTURE(batch_tokens);
    // As the records of a site that was split by allele have them, and duplicates.
    CHECK(run({ask(2, 10), ask(3, 10), ask(2, 10), ask(2, 11)}, batch_tokens) == 40 + 2 * 20);
    CHECK(run({ask(2, 10), {window(random_tokens(layout, 40, 5), 10)}, ask(2, 10)}, batch_tokens) ==
          40 + 20 + 40);
  }
  // The first one asks for the fewest rows: in one pass the run gets those of all.
  CHECK(run({ask(2, 40), ask(2, 5)}, 4096) == 60);

  std::vector<RequestPtr> levels;
  for (const uint32_t change : {0u, 1u, 0u}) {
    levels.push_back(window(random_tokens(layout, 30, 3), 0, HeadKind::token_logprobs));
    levels.back()->targets.assign(30, layout.kmer0());
    levels.back()->targets[7] += change;
  }
  CHECK(run({levels}, 4096) == 30);
  CHECK(same_bits(levels[0]->values(), levels[2]->values()));
  CHECK(levels[0]->values()[7] != levels[1]->values()[7]);
  CHECK(levels[0]->values()[8] == levels[1]->values()[8]);
}

TEST_CASE("requests for several heads of the same tokens run them once, in one pass") {
  const GeneratedCheckpoint files(tiny());
  for (const size_t batch_tokens : {4096u, 50u}) {
    TestEngine engine(files.dir(), batch_tokens);
    const TokenLayout& layout = engine.get().config().layout;
    std::vector<RequestPtr> requests;
    for (unsigned site = 0; site < 20; ++site)
      for (const HeadKind head : {HeadKind::marginals, HeadKind::token_logprobs, HeadKind::mean_hidden}) {
        requests.push_back(window(random_tokens(layout, 40, 30 + site), 12, head));
        if (head == HeadKind::token_logprobs) requests.back()->targets.assign(28, layout.kmer0() + site);
      }
    run_requests(engine.get(), requests);
    CHECK(engine.get().counts().rows == 20 * 40);
    CHECK(engine.get().counts().shared == 2 * 20);
    CHECK(engine.get().counts().window_passes == (20 * 40 + batch_tokens - 1) / batch_tokens);
    TestEngine lone(files.dir(), 4096);
    for (const RequestPtr& request : requests) CHECK(same_results(*request, *alone(lone, *request)));
  }
}

TEST_CASE("a mean is that of the rows, and a row of a longer sequence is the same") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 7);
  const TokenLayout& layout = engine.get().config().layout;
  const size_t width = engine.get().config().hidden;
  for (const int layer : {kFinalNorm, 1, 2, 3}) {
    CAPTURE(layer);
    std::vector<RequestPtr> requests;
    for (const HeadKind head : {HeadKind::hidden, HeadKind::mean_hidden, HeadKind::hidden}) {
      requests.push_back(window(random_tokens(layout, 30, 1), head == HeadKind::hidden ? 1 : 1, head));
      requests.back()->layer = layer;
    }
    requests[2]->want_begin = 29;
    requests[1]->targets = {4, 28};
    run_requests(engine.get(), requests);
    REQUIRE(requests[0]->states.size() == 29 * width);
    REQUIRE(requests[1]->states.size() == 3 * width);
    for (size_t j = 0; j < width; ++j) {
      double sum = 0;
      for (size_t row = 0; row < 29; ++row) {
        sum += requests[0]->states[row * width + j];
        if (row + 1 == 4) CHECK(requests[1]->states[j] == static_cast<float>(sum / 4));
        if (row + 1 == 28) CHECK(requests[1]->states[width + j] == static_cast<float>(sum / 28));
      }
      CHECK(requests[1]->states[2 * width + j] == static_cast<float>(sum / 29));
      CHECK(requests[2]->states[j] == requests[0]->states[28 * width + j]);
    }
  }
}

TEST_CASE("a long prompt does not stop the samples that are being generated") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 128);
  Scheduler scheduler(engine.model());
  const TokenLayout& layout = engine.get().config().layout;
  const RequestPtr living = sample(random_tokens(layout, 10, 1), 6 * 200, {});
  scheduler.add(living);
  scheduler.step();
  const RequestPtr long_prompt = sample(random_tokens(layout, 500, 2), 6, {});
  scheduler.add(long_prompt);
  for (size_t steps = 1; long_prompt->outcome == Outcome::pending; ++steps) {
    const size_t before = living->kmers.size();
    scheduler.step();
    CHECK(living->kmers.size() == before + 1);
    REQUIRE(steps < 200);
  }
  // A quarter of each pass of 128 rows.
  CHECK(scheduler.counts().sample_passes == 16);
}

namespace {

// A CPU that wants as many rows in a pass as a large GPU does.
class WideBackend final : public WrappedCpu {
 public:
  explicit WideBackend(size_t rows) : rows_(rows) {}
  size_t pass_rows() const override { return rows_; }

 private:
  size_t rows_;
};

}  // namespace

TEST_CASE("sequences of 150 bp fill passes of 16,896 rows") {
  const GeneratedCheckpoint files(tiny("--layers 1 --hidden 32 --head-dim 16 --intermediate 32"));
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  LoadedModel model(checkpoint, std::make_unique<WideBackend>(16896), 0, 2);
  CHECK(model.batch_tokens() == 2 * 16896);
  Engine engine({&model});
  std::vector<RequestPtr> requests;
  const std::vector<uint32_t> tokens = random_tokens(checkpoint->config().layout, 25, 1);
  for (uint32_t i = 0; i < 4000; ++i) {
    requests.push_back(window(tokens, 24));
    requests.back()->tokens[1 + i % 24] = checkpoint->config().layout.kmer0() + i;  // no two are equal
  }
  run_requests(engine, requests);
  const SchedulerCounts counts = engine.counts();
  CHECK(counts.rows == 4000 * 25);
  CHECK(counts.window_passes == 6);
  CHECK(static_cast<double>(counts.rows) / static_cast<double>(counts.capacity) > 0.9);
}
