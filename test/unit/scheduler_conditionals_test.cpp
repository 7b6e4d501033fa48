// The scheduler's conditionals: those of the head, however passes are cut and whatever runs beside them; and
// requests with other known bases do not share their results.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "src/sampling/base_scores.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;

namespace {

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

RequestPtr window(std::vector<uint32_t> tokens, size_t want_begin, HeadKind head) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = head;
  request->want_begin = want_begin;
  return request;
}

// With random known bases, of which a fifth are unknown.
RequestPtr conditionals(std::vector<uint32_t> tokens, size_t want_begin, unsigned seed) {
  const RequestPtr request = window(std::move(tokens), want_begin, HeadKind::conditionals);
  std::mt19937 random(seed);
  while (request->targets.size() < request->tokens.size() - want_begin) {
    std::string bases;
    while (bases.size() < ops::kBases) bases.push_back("ATCGN"[random() % 5]);
    request->targets.push_back(known_bases(bases));
  }
  return request;
}

// What the head gives for the tokens of a request after those that it shares, in one pass of their own.
std::vector<double> of_head(LoadedModel& model, const Request& request) {
  std::vector<uint32_t> tokens = request.prefix();
  const size_t begin = tokens.size() + request.want_begin;
  tokens.insert(tokens.end(), request.tokens.begin(), request.tokens.end());
  Sequence sequence = model.decoder().kv().make_sequence();
  const Chunk chunk{&sequence, tokens, begin, tokens.size()};
  const HiddenRows rows = model.decoder().forward(std::span(&chunk, 1));
  std::vector<double> values(rows.count * ops::kMarginals);
  model.head().conditionals(rows, request.targets, values.data());
  return values;
}

}  // namespace

TEST_CASE("known bases are A, C, G and T in either case; other and missing letters are not known") {
  CHECK(known_bases("") == ops::kNoneKnown);
  CHECK(known_bases("NRYKMU") == ops::kNoneKnown);
  CHECK(known_bases("AAAAAA") == 0);
  CHECK(known_bases("ATcgNA") == 0043210);
  CHECK(known_bases("GT") == 0444413);
  CHECK(known_bases("CAAAAAT") == 2);
  for (size_t j = 0; j < ops::kBases; ++j) CHECK(ops::known_letter(known_bases("GCTANG"), j) == (8 - j) % 5);
}

TEST_CASE("conditionals are those of the head, however passes are cut") {
  const GeneratedCheckpoint files(tiny());
  for (const size_t batch_tokens : {1u, 16u, 4096u}) {
    CAPTURE(batch_tokens);
    TestEngine engine(files.dir(), batch_tokens);
    LoadedModel& model = engine.model();
    const TokenLayout& layout = model.config().layout;
    const RequestPtr parent = conditionals(random_tokens(layout, 70, 1), 0, 1),
                     late = conditionals(random_tokens(layout, 50, 2), 49, 2),
                     fork = conditionals(random_tokens(layout, 20, 3), 2, 3),
                     free = conditionals(random_tokens(layout, 50, 4), 7, 4),
                     marginals = window(free->tokens, 7, HeadKind::marginals);
    free->targets.assign(free->targets.size(), ops::kNoneKnown);
    fork->parent = parent;
    fork->shared = 33;
    ++parent->forks;
    run_requests(engine.get(), {parent, marginals, late, free, fork});
    for (const RequestPtr& request : {parent, late, free, fork}) {
      REQUIRE(request->outcome == Outcome::done);
      CHECK(same_bits(request->values(), of_head(model, *request)));
    }
    CHECK(same_bits(free->values(), marginals->values()));
  }
}

TEST_CASE("requests for the same tokens share a run, whatever they read from it") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 4096);
  const TokenLayout& layout = engine.model().config().layout;
  std::vector<RequestPtr> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(conditionals(random_tokens(layout, 30, 3), 4, 1));
  requests.push_back(window(requests[0]->tokens, 4, HeadKind::marginals));
  // Base 0 of the eleventh row is another: that changes the other five bases of this row and nothing else.
  uint32_t& known = requests[1]->targets[10];
  known = ops::with_letter(known, 0, (ops::known_letter(known, 0) + 1) % ops::kLetters);
  run_requests(engine.get(), requests);
  CHECK(engine.get().counts().rows == 30);
  for (const RequestPtr& request : {requests[0], requests[1]})
    CHECK(same_bits(request->values(),
                    request == requests[0] ? requests[2]->values() : of_head(engine.model(), *request)));
  for (size_t row = 0; row < 26; ++row) {
    const auto of = [&](const RequestPtr& request, size_t first, size_t count) {
      return request->values().subspan(row * ops::kMarginals + first, count);
    };
    CHECK(same_bits(of(requests[0], 0, 24), of(requests[1], 0, 24)) == (row != 10));
    CHECK(same_bits(of(requests[0], 0, 4), of(requests[1], 0, 4)));
    CHECK(same_bits(of(requests[0], 0, 4), of(requests[3], 0, 4)));
  }
}
