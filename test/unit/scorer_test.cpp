// Jobs of one sequence run it once, and batches make room for them.
#include "src/engine/scorer.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "src/engine/pipeline.hpp"
#include "test/unit/generated_checkpoint.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::tiny;

namespace {

std::vector<uint32_t> random_tokens(const TokenLayout& layout, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> tokens{layout.dna_begin()};
  while (tokens.size() < n) tokens.push_back(layout.kmer0() + random() % kKmerCount);
  return tokens;
}

size_t run(Engine& engine, std::vector<ScoreJob>& jobs) {
  std::vector<ScoreJob*> pointers;
  for (ScoreJob& job : jobs) pointers.push_back(&job);
  return score_jobs(engine, pointers);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

struct Item {
  int number = 0;
  std::vector<ScoreJob> jobs;
};

Item item(int number, std::vector<uint32_t> tokens) {
  Item out;
  out.number = number;
  out.jobs.resize(1);
  out.jobs[0].tokens = std::move(tokens);
  return out;
}

}  // namespace

TEST_CASE("jobs of one sequence run it once and get what they asked for") {
  const GeneratedCheckpoint files(tiny());
  EngineOptions options;
  options.model = files.dir();
  options.threads = 2;
  options.batch_tokens = 50;
  Engine engine(options);
  const TokenLayout& layout = engine.config().layout;

  ScoreJob job;
  job.tokens = random_tokens(layout, 40, 1);
  job.want_begin = 10;
  job.suffixes = {{12, random_tokens(layout, 20, 2)}};
  std::vector<ScoreJob> alone{job};
  CHECK(run(engine, alone) == 60);

  ScoreJob other_tokens = job, other_rows = job, other_suffix = job, other_fork = job, no_suffix = job;
  other_tokens.tokens.back() ^= 1;
  other_rows.want_begin = 11;
  other_suffix.suffixes[0].tokens.back() ^= 1;
  other_fork.suffixes[0].shared = 13;
  no_suffix.suffixes.clear();
  std::vector<ScoreJob> jobs{job,          other_tokens, job,       other_rows, other_suffix,
                             other_suffix, other_fork,   no_suffix, job,        no_suffix};
  std::vector<ScoreJob> one_by_one = jobs;
  // 40 tokens twice, and a suffix of 20 of each kind there is.
  CHECK(run(engine, jobs) == 2 * 40 + 4 * 20);
  for (size_t i = 0; i < jobs.size(); ++i) {
    std::vector<ScoreJob> lone{one_by_one[i]};
    run(engine, lone);
    CAPTURE(i);
    CHECK(same_bits(jobs[i].rows, lone[0].rows));
    REQUIRE(jobs[i].suffix_rows.size() == lone[0].suffix_rows.size());
    for (size_t s = 0; s < lone[0].suffix_rows.size(); ++s)
      CHECK(same_bits(jobs[i].suffix_rows[s], lone[0].suffix_rows[s]));
  }
  CHECK(jobs[3].rows.size() + ops::kMarginals == jobs[0].rows.size());
  CHECK_FALSE(same_bits(jobs[1].rows, jobs[0].rows));
  CHECK_FALSE(same_bits(jobs[4].suffix_rows[0], jobs[0].suffix_rows[0]));
  CHECK_FALSE(same_bits(jobs[6].suffix_rows[0], jobs[0].suffix_rows[0]));
  CHECK(jobs[9].suffix_rows.empty());

  // The job that asks for the fewest rows comes first.
  std::vector<ScoreJob> few_first{other_rows, no_suffix, job};
  few_first[0].want_begin = 40;
  CHECK(run(engine, few_first) == 60);
  CHECK(few_first[0].rows.empty());
  CHECK(same_bits(few_first[0].suffix_rows[0], alone[0].suffix_rows[0]));
  CHECK(same_bits(few_first[2].rows, alone[0].rows));

  ScoreJob token_level;
  token_level.tokens = random_tokens(layout, 30, 3);
  token_level.targets.assign(30, layout.kmer0());
  ScoreJob other_target = token_level;
  other_target.targets[7] += 1;
  std::vector<ScoreJob> levels{token_level, other_target, token_level};
  CHECK(run(engine, levels) == 60);
  CHECK(same_bits(levels[0].rows, levels[2].rows));
  CHECK(levels[0].rows[7] != levels[1].rows[7]);
  CHECK(levels[0].rows[8] == levels[1].rows[8]);
}

TEST_CASE("a full batch takes duplicates along, and nothing is lost between batches") {
  const TokenLayout layout;
  const std::vector<uint32_t> a = random_tokens(layout, 40, 1), b = random_tokens(layout, 40, 2);
  BoundedQueue<Item> queue(kQueuedItems);
  std::vector<Item> items;
  int pushed = 0;
  for (const auto& tokens : {a, a, b, a, b, b, a}) items.push_back(item(pushed++, tokens));
  items.push_back(Item{pushed++, {}});
  queue.push(items);
  queue.close();
  Batcher<Item> batcher(queue, 50);
  std::vector<std::vector<int>> batches;
  for (std::vector<Item> batch; batcher.next(batch); batch.clear()) {
    batches.emplace_back();
    for (const Item& each : batch) batches.back().push_back(each.number);
  }
  CHECK(batches == std::vector<std::vector<int>>{{0, 1, 2, 3, 4, 5, 6, 7}});

  BoundedQueue<Item> tight(kQueuedItems);
  pushed = 0;
  for (const auto& tokens : {a, a, b, b, a, a}) items.push_back(item(pushed++, tokens));
  tight.push(items);
  tight.close();
  Batcher<Item> one(tight, 1);
  batches.clear();
  for (std::vector<Item> batch; one.next(batch); batch.clear()) {
    batches.emplace_back();
    for (const Item& each : batch) batches.back().push_back(each.number);
  }
  CHECK(batches == std::vector<std::vector<int>>{{0, 1}, {2, 3}, {4, 5}});

  // Records of a split site join a full batch.
  std::vector<Item> split;
  for (int i = 0; i < 3; ++i) {
    split.push_back(item(i, a));
    split.back().jobs[0].suffixes = {{12, random_tokens(layout, 20, 3 + static_cast<unsigned>(i))}};
  }
  CHECK(split[1].jobs[0].cost_beside(split[0].jobs[0]) == 20);
  CHECK(split[1].jobs[0].cost_beside(split[1].jobs[0]) == 0);
  split.push_back(item(3, b));
  BoundedQueue<Item> sites(kQueuedItems);
  sites.push(split);
  sites.close();
  Batcher<Item> sharing(sites, 1);
  batches.clear();
  for (std::vector<Item> batch; sharing.next(batch); batch.clear()) {
    batches.emplace_back();
    for (const Item& each : batch) batches.back().push_back(each.number);
  }
  CHECK(batches == std::vector<std::vector<int>>{{0, 1, 2}, {3}});
}
