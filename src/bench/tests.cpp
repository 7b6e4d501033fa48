#include "src/bench/tests.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/random.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/score/windows.hpp"
#include "src/vep/plan.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// `stream` tells sequences apart.
std::string random_bases(size_t count, uint32_t stream) {
  std::string bases(count, 'A');
  for (size_t i = 0; i < count; ++i) {
    const PhiloxBlock block = philox({static_cast<uint32_t>(i), stream, 0, 0}, {0, 0});
    bases[i] = kBaseLetters[block[0] >> 30];
  }
  return bases;
}

std::vector<uint32_t> random_tokens(size_t count, uint32_t stream, const TokenLayout& layout) {
  std::vector<uint32_t> tokens = encode_kmers(random_bases((count - 1) * kKmerLength, stream), layout);
  tokens.insert(tokens.begin(), layout.dna_begin());
  return tokens;
}

WorkUnits units_of(const Engine& engine) {
  WorkUnits units;
  units.cache_bytes = engine.dtype() == "bf16" ? 2 : 4;
  // In f32 weights are read as the checkpoint has them, in bf16 as bf16.
  if (engine.dtype() == "f32") units.weight_bytes = dtype_size(engine.checkpoint().embedding().dtype);
  return units;
}

BenchTest prefill_test(Engine& engine, size_t prompt) {
  BenchTest test{"prefill", 1, prompt, prompt * kKmerLength, 0, {}, {}};
  const WorkChunk chunk{0, prompt, 1};
  test.work = forward_work(engine.config(), units_of(engine), std::span(&chunk, 1));
  test.run = [&engine, tokens = random_tokens(prompt, 0, engine.config().layout)] {
    Sequence sequence = engine.decoder().kv().make_sequence();
    const Chunk all{&sequence, tokens, tokens.size() - 1, tokens.size()};
    const HiddenRows rows = engine.decoder().forward(std::span(&all, 1));
    std::vector<float> logits(ops::kKmers);
    engine.head().kmer_logits(rows, logits.data());
  };
  return test;
}

BenchTest decode_test(Engine& engine, size_t batch, size_t steps) {
  BenchTest test{"decode", batch, batch * steps, batch * steps * kKmerLength, 0, {}, {}};
  for (size_t step = 0; step < steps; ++step) {
    const std::vector<WorkChunk> chunks(batch, {step, 1, 1});
    test.work += forward_work(engine.config(), units_of(engine), chunks);
  }
  std::vector<std::vector<uint32_t>> tokens;
  for (size_t i = 0; i < batch; ++i)
    tokens.push_back(random_tokens(steps, static_cast<uint32_t>(1 + i), engine.config().layout));
  test.run = [&engine, steps, tokens] {
    std::vector<Sequence> sequences;
    for (size_t i = 0; i < tokens.size(); ++i) sequences.push_back(engine.decoder().kv().make_sequence());
    std::vector<float> logits(tokens.size() * ops::kKmers);
    for (size_t step = 0; step < steps; ++step) {
      std::vector<Chunk> chunks;
      for (size_t i = 0; i < tokens.size(); ++i)
        chunks.push_back({&sequences[i], std::span(tokens[i]).subspan(step, 1), 0, 1});
      engine.head().kmer_logits(engine.decoder().forward(chunks, ops::RowClass::decode), logits.data());
    }
  };
  return test;
}

BenchTest score_test(Engine& engine, size_t prompt) {
  const size_t count = std::max<size_t>(1, engine.batch_tokens() / prompt);
  BenchTest test{"score", count, count * prompt, count * prompt * kKmerLength, 0, {}, {}};
  const std::vector<WorkChunk> chunks(count, {0, prompt, prompt});
  test.work = forward_work(engine.config(), units_of(engine), chunks);
  std::vector<std::string> bases;
  for (size_t i = 0; i < count; ++i)
    bases.push_back(random_bases(prompt * kKmerLength, static_cast<uint32_t>(1000 + i)));
  test.run = [&engine, bases] {
    const std::vector<std::string_view> sequences(bases.begin(), bases.end());
    score_sequences(engine, ScoreLevel::base, sequences, [](size_t, const SequenceScores&) {});
  };
  return test;
}

// Sites on a random contig, as far apart as their number; base 4 of the window's middle 6-mer.
struct Sites {
  ReferenceSlice contig;
  int64_t window;
  std::vector<Variant> variants;

  Sites(size_t count, size_t alts, size_t prompt) : window(static_cast<int64_t>(prompt * kKmerLength) - 4) {
    const auto length = static_cast<int64_t>(count) * kKmerLength + 2 * window;
    contig = {0, length, random_bases(static_cast<size_t>(length), 2)};
    for (size_t i = 0; i < count; ++i) {
      const int64_t position = window + static_cast<int64_t>(i) * kKmerLength;
      const char ref = contig.bases[static_cast<size_t>(position)];
      Variant variant{position, std::string(1, ref), {}};
      for (const char* letter = kBaseLetters; variant.alts.size() < alts; ++letter)
        if (*letter != ref) variant.alts.emplace_back(1, *letter);
      variants.push_back(variant);
    }
  }

  // The jobs of all sites, and their scores once these have run.
  std::vector<CenteredPlan> plan(const TokenLayout& layout, std::vector<ScoreJob>& jobs) const {
    std::vector<CenteredPlan> plans;
    for (const Variant& v : variants)
      for (const Strand strand : {Strand::forward, Strand::reverse})
        plans.emplace_back(v.pos, v.ref, v.alts, contig, window, strand, layout, jobs);
    return plans;
  }
};

BenchTest vep_test(Engine& engine, size_t alts, size_t prompt) {
  const TokenLayout& layout = engine.config().layout;
  const Sites sites(std::max<size_t>(1, engine.batch_tokens() / (2 * prompt)), alts, prompt);
  std::vector<ScoreJob> jobs;
  sites.plan(layout, jobs);
  BenchTest test{"vep", alts, 0, 0, sites.variants.size() * alts, {}, {}};
  for (const ScoreJob& job : jobs) test.tokens += job.cost();
  test.bases = test.tokens * kKmerLength;
  test.work = jobs_work(engine.config(), units_of(engine), jobs);
  test.run = [&engine, sites, alts] {
    std::vector<ScoreJob> run;
    const std::vector<CenteredPlan> plans = sites.plan(engine.config().layout, run);
    std::vector<ScoreJob*> pointers;
    for (ScoreJob& job : run) pointers.push_back(&job);
    score_jobs(engine, pointers);
    double sum = 0;
    for (const CenteredPlan& plan : plans)
      for (size_t i = 0; i < alts; ++i) sum += plan.llr(i, run);
    if (!(sum - sum == 0)) throw Error("bench", "a score is not finite; try --dtype f32");
  };
  return test;
}

}  // namespace

void check_bench_sizes(const BenchSizes& sizes, const ModelConfig& config) {
  // What `carbon score` gives one window.
  const size_t largest = default_window(config.max_positions) / kKmerLength;
  if (sizes.prompt > largest)
    throw Error("bench", "-p " + std::to_string(sizes.prompt) +
                             " does not fit the model's context; the largest is " + std::to_string(largest));
  if (sizes.steps > config.max_positions)
    throw Error("bench", "-n " + std::to_string(sizes.steps) +
                             " does not fit the model's context; the largest is " +
                             std::to_string(config.max_positions));
}

std::vector<BenchTest> bench_tests(Engine& engine, const BenchSizes& sizes) {
  std::vector<BenchTest> tests;
  tests.push_back(prefill_test(engine, sizes.prompt));
  for (const size_t batch : sizes.batches) tests.push_back(decode_test(engine, batch, sizes.steps));
  tests.push_back(score_test(engine, sizes.prompt));
  for (const size_t alts : {1, 3}) tests.push_back(vep_test(engine, alts, sizes.prompt));
  return tests;
}

}  // namespace carbon
