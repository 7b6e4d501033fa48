// The scheduler's memory: what is kept for children does not keep them waiting.
#include <doctest/doctest.h>

#include <cstring>

#include "src/engine/scheduler.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;

namespace {

RequestPtr scored(std::vector<uint32_t> tokens) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = HeadKind::marginals;
  return request;
}

struct Family {
  std::vector<RequestPtr> parents, children;
};

// Parents of 250 tokens, and children that share 240 of them and add 8.
Family family(const TokenLayout& layout, size_t parents, size_t children) {
  Family out;
  for (size_t p = 0; p < parents; ++p) {
    out.parents.push_back(scored(random_tokens(layout, 250, static_cast<unsigned>(p))));
    out.parents.back()->want_begin = 240;
  }
  for (size_t c = 0; c < children; ++c)
    for (size_t p = 0; p < parents; ++p) {
      std::vector<uint32_t> tokens = random_tokens(layout, 9, static_cast<unsigned>(100 + parents * c + p));
      tokens.erase(tokens.begin());
      const RequestPtr child = scored(tokens);
      child->parent = out.parents[p];
      child->shared = 240;
      ++out.parents[p]->forks;
      out.children.push_back(child);
    }
  return out;
}

}  // namespace

TEST_CASE("children fill passes also if their parents take more memory than the budget") {
  const GeneratedCheckpoint files(tiny());
  constexpr size_t parents = 12, children = 16, batch = 64;
  TestEngine small(files.dir(), batch), large(files.dir(), 100000);
  Family ours = family(small.get().config().layout, parents, children);
  Scheduler scheduler(small.model());
  for (const auto* requests : {&ours.parents, &ours.children})
    for (const RequestPtr& request : *requests) scheduler.add(request);
  while (scheduler.step()) {
  }
  const size_t rows = parents * (250 + children * 8);
  CHECK(scheduler.counts().rows == rows);
  CHECK(scheduler.counts().window_passes < rows / batch + 2 * parents);
  CHECK(small.model().decoder().kv().pages_in_use() <= 2 * 5);
  CHECK(scheduler.state().page_limit ==
        8 * batch / ops::kPageTokens);  // on a CPU, however much memory it has

  const Family theirs = family(large.get().config().layout, parents, children);
  std::vector<RequestPtr> all = theirs.parents;
  all.insert(all.end(), theirs.children.begin(), theirs.children.end());
  run_requests(large.get(), all);
  for (size_t i = 0; i < ours.children.size(); ++i) {
    const auto mine = ours.children[i]->values(), other = theirs.children[i]->values();
    REQUIRE(mine.size() == other.size());
    CHECK(std::memcmp(mine.data(), other.data(), mine.size_bytes()) == 0);
  }
}
