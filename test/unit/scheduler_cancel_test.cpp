// A pass that nobody wants any more is given up in the middle of a layer, and one that somebody wants is not.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "test/unit/test_engine.hpp"
#include "test/unit/wrapped_cpu.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;
using carbon::test::WrappedCpu;

namespace {

// Counts the halves of layers that it computes, and tells of each.
class WatchedCpu final : public WrappedCpu {
 public:
  WatchedCpu(size_t& halves, const std::function<void(size_t)>& told) : halves_(halves), told_(told) {}
  void attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                 int exponent) override {
    WrappedCpu::attention(q, ld, plan, layer, act, exponent);
    told_(++halves_);
  }
  void swiglu(const float* gate_up, size_t n, size_t width, void* act) override {
    WrappedCpu::swiglu(gate_up, n, width, act);
    told_(++halves_);
  }

 private:
  size_t& halves_;
  const std::function<void(size_t)>& told_;
};

// A model of three layers, and so of six halves, that runs all requests in one pass.
struct Watched {
  explicit Watched(const std::string& dir)
      : model(std::make_shared<const Checkpoint>(dir), std::make_unique<WatchedCpu>(halves, told), 4096, 2),
        scheduler(model) {}

  void cancel_in(size_t half, const std::vector<RequestPtr>& requests) {
    const size_t at = halves + half;
    told = [=](size_t now) {
      if (now == at)
        for (const RequestPtr& request : requests) request->cancelled = true;
    };
  }
  size_t pages() { return model.decoder().kv().pages_in_use(); }

  size_t halves = 0;
  std::function<void(size_t)> told = [](size_t) {};
  LoadedModel model;
  Scheduler scheduler;
};

RequestPtr window(const TokenLayout& layout, size_t tokens, unsigned seed) {
  const auto request = std::make_shared<Request>();
  request->tokens = random_tokens(layout, tokens, seed);
  request->head = HeadKind::marginals;
  return request;
}

bool has_bits_of_alone(TestEngine& engine, const Request& request) {
  const auto copy = std::make_shared<Request>();
  copy->tokens = request.prefix();
  copy->want_begin = copy->tokens.size() + request.want_begin;
  copy->tokens.insert(copy->tokens.end(), request.tokens.begin(), request.tokens.end());
  copy->head = request.head;
  run_requests(engine.get(), {copy});
  const std::span<const double> a = request.values(), b = copy->values();
  return request.outcome == Outcome::done && !a.empty() && a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace

TEST_CASE("a pass is given up half a layer after all of its requests were cancelled") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  const TokenLayout& layout = lone.get().config().layout;
  for (size_t half = 1; half <= 6; ++half) {
    CAPTURE(half);
    Watched watched(files.dir());
    const RequestPtr one = window(layout, 300, 1), two = window(layout, 70, 2);
    int told = 0;
    for (const RequestPtr& request : {one, two}) {
      request->finished = [&](Request&) { ++told; };
      watched.scheduler.add(request);
    }
    watched.cancel_in(half, {one, two});
    watched.scheduler.step();
    CHECK(watched.halves == half);
    if (half == 6) {  // all was computed by then
      CHECK(one->outcome == Outcome::done);
      CHECK(has_bits_of_alone(lone, *two));
      continue;
    }
    CHECK(told == 2);
    CHECK(one->outcome == Outcome::cancelled);
    CHECK(two->values().empty());
    CHECK(watched.pages() == 0);
    CHECK(watched.scheduler.idle());
    CHECK(watched.scheduler.state().pages == 0);
    // Nothing of it is left: the same tokens are computed anew.
    const RequestPtr again = window(layout, 300, 1);
    watched.scheduler.add(again);
    while (watched.scheduler.step()) continue;
    CHECK(watched.halves == half + 6);
    CHECK(has_bits_of_alone(lone, *again));
  }
}

TEST_CASE("a pass goes on for one request that is still wanted, with the same bits") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  const TokenLayout& layout = lone.get().config().layout;
  for (const bool equal : {false, true}) {
    CAPTURE(equal);
    Watched watched(files.dir());
    const RequestPtr one = window(layout, 300, 1), two = window(layout, 70, 2),
                     kept = window(layout, equal ? 300 : 90, equal ? 1 : 3);
    for (const RequestPtr& request : {one, two, kept}) watched.scheduler.add(request);
    watched.cancel_in(1, {one, two});
    while (watched.scheduler.step()) continue;
    CHECK(watched.halves == 6);
    CHECK(has_bits_of_alone(lone, *kept));
  }
}

TEST_CASE("requests that wait while a pass is given up get their bits, children of cancelled ones too") {
  const GeneratedCheckpoint files(tiny());
  TestEngine lone(files.dir(), 4096);
  const TokenLayout& layout = lone.get().config().layout;
  Watched watched(files.dir());
  const RequestPtr parent = window(layout, 300, 1), child = window(layout, 30, 2);
  child->parent = parent;
  child->shared = 200;
  parent->forks = 1;
  // Longer than a pass: it is in the second one by itself.
  const RequestPtr long_one = window(layout, 3000, 3), short_one = window(layout, 20, 4);
  for (const RequestPtr& request : {parent, child}) watched.scheduler.add(request);
  watched.cancel_in(2, {parent});
  watched.scheduler.step();
  CHECK(watched.halves == 2);
  while (watched.scheduler.step()) continue;
  CHECK(parent->outcome == Outcome::cancelled);
  CHECK(has_bits_of_alone(lone, *child));

  watched.scheduler.add(long_one);
  watched.scheduler.step();
  REQUIRE(long_one->outcome == Outcome::pending);
  CHECK(watched.pages() > 0);
  const size_t before = watched.halves;
  watched.cancel_in(3, {long_one});
  watched.scheduler.step();
  CHECK(watched.halves == before + 3);
  CHECK(watched.pages() == 0);
  watched.scheduler.add(short_one);
  while (watched.scheduler.step()) continue;
  CHECK(has_bits_of_alone(lone, *short_one));
}

TEST_CASE("a decoder that gives up has changed no sequence") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 4096);
  Decoder& decoder = engine.model().decoder();
  const std::vector<uint32_t> tokens = random_tokens(engine.get().config().layout, 40, 1);
  const auto last_row = [&](Sequence& sequence) {
    const Chunk chunk{&sequence, tokens, tokens.size() - 1, tokens.size()};
    std::vector<float> row(engine.get().config().hidden);
    decoder.download_residual(decoder.forward(std::span(&chunk, 1)), row.data());
    return row;
  };
  Sequence fresh = decoder.kv().make_sequence(), sequence = decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  int asked = 0;
  CHECK(!decoder.forward_while(std::span(&chunk, 1), 0, [&] { return ++asked < 4; }));
  CHECK(asked == 4);
  CHECK(sequence.length() == 0);
  CHECK(last_row(sequence) == last_row(fresh));
}
