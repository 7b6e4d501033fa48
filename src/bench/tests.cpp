#include "src/bench/tests.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/random.hpp"
#include "src/base/system.hpp"
#include "src/score/planner.hpp"
#include "src/score/sequence_scores.hpp"
#include "src/vep/recipes/recipes.hpp"
#include "src/vep/variant_scores.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// Tokens of the default window of recipe centered with 6-mers.
constexpr size_t kUsualPrompt = 1366;
// Of annotate.
constexpr size_t kAnnotatorWindow = 16384;

// Another `stream` gives another sequence.
std::string random_bases(size_t count, uint32_t stream) {
  std::string bases(count, 'A');
  for (size_t i = 0; i < count; ++i) {
    const PhiloxBlock block = philox({static_cast<uint32_t>(i), stream, 0, 0}, {0, 0});
    bases[i] = kBaseLetters[block[0] >> 30];
  }
  return bases;
}

std::vector<uint32_t> random_tokens(size_t count, uint32_t stream, const TokenLayout& layout) {
  return sequence_tokens(random_bases((count - 1) * layout.bases(), stream), layout);
}

// Of a token.
size_t bases_of(Engine& engine) {
  return engine.config().layout.bases();
}

WorkUnits units_of(const LoadedModel& model) {
  WorkUnits units;
  units.cache_bytes = model.dtype() == "f32" ? 4 : 2;
  // In f32 weights are read as the checkpoint has them, or as f32 if it has them in blocks; in bf16 as bf16.
  const WeightType stored = model.checkpoint().embedding().dtype;
  if (model.dtype() == "f32")
    units.weight_bytes = stored == WeightType::q8_0 ? 4 : static_cast<double>(dtype_size(stored));
  if (model.dtype() == "int8") units.weight_bytes = kInt8WeightBytes;
  return units;
}

double seconds_of(Engine& engine, const std::vector<RequestPtr>& requests) {
  const Stopwatch watch;
  run_requests(engine, requests);
  return watch.seconds();
}

BenchTest prefill_test(Engine& engine, size_t prompt) {
  BenchTest test{"prefill", 1, prompt, prompt * bases_of(engine), 0, {}, {}};
  const WorkChunk chunk{0, prompt, 1};
  test.work = forward_work(engine.config(), units_of(engine.model()), std::span(&chunk, 1));
  test.run = [&engine, tokens = random_tokens(prompt, 0, engine.config().layout)] {
    const auto request = std::make_shared<Request>();
    request->tokens = tokens;
    request->head = HeadKind::kmer_logits;
    request->want_begin = tokens.size() - 1;
    return seconds_of(engine, {request});
  };
  return test;
}

// Decoding is greedy, so that the time does not include random numbers.
BenchTest decode_test(Engine& engine, size_t batch, size_t steps) {
  BenchTest test{"decode", batch, batch * steps, batch * steps * bases_of(engine), 0, {}, {}};
  for (size_t step = 0; step < steps; ++step) {
    const std::vector<WorkChunk> chunks(batch, {step + 1, 1, 1});
    test.work += forward_work(engine.config(), units_of(engine.model()), chunks);
  }
  test.run = [&engine, batch, steps] {
    const auto bases = std::make_shared<NewBases>();
    bases->k = bases_of(engine);
    bases->length = (1 + steps) * bases->k;
    std::vector<RequestPtr> requests;
    size_t begun = 0;
    Stopwatch watch;
    for (size_t i = 0; i < batch; ++i) {
      const auto request = std::make_shared<Request>();
      request->tokens = {engine.config().layout.begin()};
      request->generation = {bases, {SamplerKind::kmer, true}, 0, static_cast<uint32_t>(i), nullptr};
      request->progressed = [&](const Request& of, size_t) {
        if (of.kmers.size() == 1 && ++begun == batch) watch = Stopwatch();
      };
      requests.push_back(request);
    }
    run_requests(engine, requests);
    return watch.seconds();
  };
  return test;
}

BenchTest score_test(Engine& engine, size_t prompt) {
  const size_t count = std::max<size_t>(1, engine.model().batch_tokens() / prompt);
  BenchTest test{"score", count, count * prompt, count * prompt * bases_of(engine), 0, {}, {}};
  const std::vector<WorkChunk> chunks(count, {0, prompt, prompt});
  test.work = forward_work(engine.config(), units_of(engine.model()), chunks);
  std::vector<std::string> bases;
  for (size_t i = 0; i < count; ++i)
    bases.push_back(random_bases(prompt * bases_of(engine), static_cast<uint32_t>(1000 + i)));
  test.run = [&engine, bases] {
    const std::vector<std::string_view> sequences(bases.begin(), bases.end());
    const Stopwatch watch;
    score_sequences(engine, {}, sequences, [](size_t, const SequenceScores&) {});
    return watch.seconds();
  };
  return test;
}

// As `carbon scan` reads both strands: the first third of a window is context, and every base of the rest
// gets the scores of three SNVs.
BenchTest scan_test(Engine& engine, size_t prompt) {
  const size_t pairs = std::max<size_t>(1, engine.model().batch_tokens() / (2 * prompt));
  const size_t scored = prompt - prompt / 3, bases = pairs * scored * bases_of(engine);
  BenchTest test{"scan", 2 * pairs, 2 * pairs * prompt, bases, 3 * bases, {}, {}};
  const std::vector<WorkChunk> chunks(2 * pairs, {0, prompt, scored});
  test.work = forward_work(engine.config(), units_of(engine.model()), chunks);
  test.run = [&engine, windows = 2 * pairs, prompt, scored] {
    std::vector<RequestPtr> requests;
    for (size_t i = 0; i < windows; ++i) {
      const auto request = std::make_shared<Request>();
      request->tokens = random_tokens(prompt, static_cast<uint32_t>(2000 + i), engine.config().layout);
      request->head = HeadKind::marginals;
      request->want_begin = prompt - scored;
      requests.push_back(request);
    }
    return seconds_of(engine, requests);
  };
  return test;
}

// Variants on a random contig, as one recipe reads them.
class Sites {
 public:
  Sites(const RecipeSettings& settings, const ModelConfig& config, std::string bases)
      : planner_(make_recipes(settings, config), config.layout, nullptr), bases_(std::move(bases)) {}

  void add(int64_t position, size_t alts) {
    const char ref = bases_[static_cast<size_t>(position)];
    Variant variant{position, std::string(1, ref), {}};
    for (const char* letter = kBaseLetters; variant.alts.size() < alts; ++letter)
      if (*letter != ref) variant.alts.emplace_back(1, *letter);
    variants_.push_back({"random", std::move(variant)});
  }
  size_t count() const { return variants_.size(); }

  std::vector<RequestPtr> requests() const {
    std::vector<VariantItem> items;
    return plan(items);
  }

  double seconds(Engine& engine) const {
    const Stopwatch watch;
    std::vector<VariantItem> items;
    run_requests(engine, plan(items));
    for (const VariantItem& item : items) variant_scores(planner_, item);  // throws if one is not finite
    return watch.seconds();
  }

 private:
  std::vector<RequestPtr> plan(std::vector<VariantItem>& items) const {
    ReferenceReader reader("random", bases_);
    std::vector<RequestPtr> requests;
    plan_variants(planner_, variants_, reader, [&](VariantItem item) {
      requests.insert(requests.end(), item.requests.begin(), item.requests.end());
      items.push_back(std::move(item));
    });
    return requests;
  }

  SitePlanner planner_;
  std::string bases_;
  std::vector<PlacedVariant> variants_;
};

BenchTest sites_test(Engine& engine, const std::string& name, size_t size, std::shared_ptr<const Sites> sites,
                     size_t alleles) {
  BenchTest test{name, size, 0, 0, alleles, {}, {}};
  const std::vector<RequestPtr> requests = sites->requests();
  for (const RequestPtr& request : requests) test.tokens += request->tokens.size();
  test.bases = test.tokens * bases_of(engine);
  test.work = requests_work(engine.config(), units_of(engine.model()), requests);
  test.run = [&engine, sites = std::move(sites)] { return sites->seconds(engine); };
  return test;
}

// Variants a token apart, each in the middle of its window: of 6-mers, at base 4 of the middle one.
BenchTest vep_test(Engine& engine, size_t alts, size_t prompt) {
  const size_t count = std::max<size_t>(1, engine.model().batch_tokens() / (2 * prompt));
  RecipeSettings settings;
  const size_t token = bases_of(engine);
  const int64_t window = static_cast<int64_t>(prompt * token) - (token > 1 ? 4 : 0);
  settings.window = window;
  const auto sites = std::make_shared<Sites>(
      settings, engine.config(),
      random_bases(static_cast<size_t>(static_cast<int64_t>(count * token) + 2 * window), 2));
  for (size_t i = 0; i < count; ++i) sites->add(window + static_cast<int64_t>(i * token), alts);
  return sites_test(engine, "vep", alts, sites, count * alts);
}

// With `lone`, one SNV in each of as many windows as make a batch; else SNVs 50 bp apart in one window. On
// both strands the windows begin at the same multiples of the context.
BenchTest anchored_test(Engine& engine, bool lone, int64_t horizon, size_t prompt) {
  const ModelConfig& config = engine.config();
  const size_t token = config.layout.bases();
  const auto kmer = static_cast<int64_t>(token);
  const int64_t largest = (anchored_longest(0, horizon, config.max_positions, token) - 1) / 2;
  const int64_t context =
      std::max(kmer, std::min(static_cast<int64_t>(prompt) * kmer / 2, largest) / kmer * kmer);
  horizon = std::clamp<int64_t>(anchored_longest(context, 0, config.max_positions, token) - 1, 0, horizon);
  RecipeSettings settings;
  settings.recipes = {"anchored"};
  settings.context = context;
  settings.horizons = {horizon};
  const auto windows =
      static_cast<int64_t>(lone ? std::max<size_t>(1, 2 * engine.model().batch_tokens() / prompt) : 1);
  const int64_t distance = lone ? context : 50;
  const auto sites = std::make_shared<Sites>(settings, config,
                                             random_bases(static_cast<size_t>((windows + 4) * context), 3));
  for (int64_t pos = 2 * context + std::min(distance, context) / 2; pos < (windows + 2) * context;
       pos += distance)
    sites->add(pos, 1);
  BenchTest test = sites_test(engine, "anchored", static_cast<size_t>(distance), sites, sites->count());
  test.horizon = static_cast<size_t>(horizon);
  return test;
}

// One window of an annotator, of which every base is read on both strands.
BenchTest annotate_test(Engine& engine, size_t window) {
  BenchTest test{"annotate", 1, window, window * bases_of(engine), 0, {}, {}};
  const WorkChunk chunk{0, window, window};
  test.work = forward_work(engine.config(), units_of(engine.model()), std::span(&chunk, 1));
  test.run = [&engine, window] {
    const auto request = std::make_shared<Request>();
    request->tokens = encode_kmers(random_bases(window * bases_of(engine), 4), engine.config().layout);
    request->head = HeadKind::class_logits;
    return seconds_of(engine, {request});
  };
  return test;
}

}  // namespace

BenchSizes complete_bench_sizes(BenchSizes sizes, const ModelConfig& config) {
  // Prompts are scored, too, and must fit one window of score_sequences(). An annotator reads the longest
  // windows that it takes.
  const size_t largest =
      config.annotator ? config.max_positions
                       : default_window(config.max_positions, config.layout.bases()) / config.layout.bases();
  if (sizes.prompt == 0 && config.annotator) sizes.prompt = std::min(kAnnotatorWindow, largest);
  if (sizes.prompt == 0)
    sizes.prompt = config.layout.family->defaults_fit ? std::min(kUsualPrompt, largest) : kUsualPrompt;
  if (sizes.prompt > largest)
    throw Error("bench",
                "a window of " + std::to_string(sizes.prompt) +
                    " tokens does not fit the model's context; the largest that fits has " +
                    std::to_string(largest) + " tokens",
                {"set it with {-p}"});
  const size_t most_steps = config.max_positions - 1;  // what begins the sequence takes one position
  if (sizes.steps > most_steps)
    throw Error("bench",
                std::to_string(sizes.steps) +
                    " new tokens do not fit the model's context; the largest number that fits is " +
                    std::to_string(most_steps),
                {"set it with {-n}"});
  return sizes;
}

std::vector<std::string> bench_test_names() {
  return {"prefill", "decode", "score", "scan", "vep", "anchored", "annotate"};
}

std::vector<BenchTest> bench_tests(Engine& engine, const BenchSizes& sizes) {
  if (engine.config().annotator) return {annotate_test(engine, sizes.prompt)};
  std::vector<BenchTest> tests;
  tests.push_back(prefill_test(engine, sizes.prompt));
  for (const size_t batch : sizes.batches) tests.push_back(decode_test(engine, batch, sizes.steps));
  tests.push_back(score_test(engine, sizes.prompt));
  tests.push_back(scan_test(engine, sizes.prompt));
  for (const size_t alts : {1, 3}) tests.push_back(vep_test(engine, alts, sizes.prompt));
  if (engine.config().layout.bases() == 1) return tests;  // no recipe anchored
  for (const bool lone : {false, true})
    for (const int64_t horizon : {96, 768})
      tests.push_back(anchored_test(engine, lone, horizon, sizes.prompt));
  return tests;
}

}  // namespace carbon
