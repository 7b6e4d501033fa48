// A model that annotates: its decoder without a mask and its heads against the double-precision reference,
// its bits whatever shares a pass with a window, and what is refused of its files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "src/engine/scheduler.hpp"
#include "src/model/model_use.hpp"
#include "src/model/work.hpp"
#include "test/reference/llama.hpp"
#include "test/unit/test_engine.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestEngine;

namespace {

std::string annotator(const std::string& more = "") {
  return "--preset generanno --hidden 64 --layers 3 --heads 4 --kv-heads 2 --head-dim 16 --intermediate 96 "
         "--max-positions 1024 " +
         more;
}

// 6-mers and some <oov>, without any token that begins a sequence.
std::vector<uint32_t> window_tokens(const TokenLayout& layout, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> tokens;
  while (tokens.size() < n)
    tokens.push_back(random() % 40 == 0 ? layout.oov() : layout.kmer0() + random() % kKmerCount);
  return tokens;
}

RequestPtr window(std::vector<uint32_t> tokens) {
  const auto request = std::make_shared<Request>();
  request->tokens = std::move(tokens);
  request->head = HeadKind::class_logits;
  return request;
}

std::vector<float> logits(TestEngine& engine, const std::vector<uint32_t>& tokens) {
  const RequestPtr request = window(tokens);
  run_requests(engine.get(), {request});
  CHECK(request->outcome == Outcome::done);
  return request->states;
}

template <class T, class U>
double worst_of(const std::vector<T>& a, const std::vector<U>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

template <class T, class U>
double rms_of(const std::vector<T>& a, const std::vector<U>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

template <class T>
std::vector<T> reference_logits(const Checkpoint& checkpoint, const std::vector<uint32_t>& tokens) {
  std::vector<T> all;
  for (const auto& row : reference::hidden_states<T>(checkpoint, tokens)) {
    const std::vector<T> z = reference::class_logits(checkpoint, row);
    all.insert(all.end(), z.begin(), z.end());
  }
  return all;
}

// Of a checkpoint whose config.json was changed.
std::string refusal(const std::string& shape, const std::function<void(nlohmann::json&)>& change) {
  const GeneratedCheckpoint files(annotator(shape));
  nlohmann::json config = nlohmann::json::parse(std::ifstream(files.dir() + "/config.json"));
  change(config);
  std::ofstream(files.dir() + "/config.json") << config.dump();
  try {
    const Checkpoint checkpoint(files.dir());
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the logits of classes are as close to double as a naive float implementation") {
  for (const std::string shape : {"--dtype f32", "--mlp-heads 1 --dtype f32", "--kv-heads 1 --head-dim 16",
                                  "--heads 8 --kv-heads 8 --head-dim 8 --mlp-heads 1"}) {
    CAPTURE(shape);
    const GeneratedCheckpoint files(annotator(shape));
    TestEngine engine(files.dir(), 4096, "f32");
    const Checkpoint& checkpoint = engine.model().checkpoint();
    for (const size_t n : {size_t{1}, size_t{64}, size_t{150}}) {
      const std::vector<uint32_t> tokens = window_tokens(checkpoint.config().layout, n, 5);
      const auto truth = reference_logits<double>(checkpoint, tokens);
      const double naive = worst_of(truth, reference_logits<float>(checkpoint, tokens));
      const std::vector<float> got = logits(engine, tokens);
      REQUIRE(got.size() == n * 24);
      const double worst = worst_of(truth, got);
      MESSAGE(n << " tokens: worst logit " << worst << ", naive float " << naive);
      CHECK(worst <= std::max(2 * naive, 1e-6));
      CHECK(worst < 2e-4);
    }
  }
}

TEST_CASE("a token sees those after it, and the last one too") {
  const GeneratedCheckpoint files(annotator());
  TestEngine engine(files.dir(), 4096, "f32");
  std::vector<uint32_t> tokens = window_tokens(engine.model().config().layout, 200, 3);
  const std::vector<float> before = logits(engine, tokens);
  tokens.back() ^= 1;
  const std::vector<float> after = logits(engine, tokens);
  CHECK(worst_of(std::vector<float>(before.begin(), before.begin() + 24), after) > 1e-6);
}

TEST_CASE("a window has the same bits alone, beside others, on any threads and in any batch") {
  const GeneratedCheckpoint files(annotator());
  for (const std::string dtype : {"f32", "bf16", "int8"}) {
    CAPTURE(dtype);
    TestEngine one(files.dir(), 4096, dtype, 1);
    const TokenLayout& layout = one.model().config().layout;
    std::vector<std::vector<uint32_t>> windows;
    for (const size_t n : {300, 1, 64, 700, 300, 129, 1024, 2})
      windows.push_back(window_tokens(layout, static_cast<size_t>(n), static_cast<unsigned>(windows.size())));
    windows.push_back(windows.front());
    std::vector<std::vector<float>> alone;
    for (const auto& tokens : windows) alone.push_back(logits(one, tokens));
    for (const size_t batch : {64, 512, 4096}) {
      TestEngine two(files.dir(), batch, dtype, 2);
      std::vector<RequestPtr> all;
      for (const auto& tokens : windows) all.push_back(window(tokens));
      run_requests(two.get(), all);
      for (size_t i = 0; i < all.size(); ++i) {
        REQUIRE(all[i]->outcome == Outcome::done);
        REQUIRE(all[i]->states.size() == alone[i].size());
        CHECK(std::memcmp(all[i]->states.data(), alone[i].data(), alone[i].size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE("all instruction sets attend without a mask, each with its own bits in one piece or two") {
  const GeneratedCheckpoint files(annotator("--mlp-heads 1"));
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  const std::vector<uint32_t> tokens = window_tokens(checkpoint->config().layout, 333, 17);
  const auto truth = reference_logits<double>(*checkpoint, tokens);
  for (const cpu::Kernels* kernels : cpu::supported_kernels())
    for (const DType type : {DType::f32, DType::bf16}) {
      CAPTURE(kernels->name);
      std::vector<std::vector<float>> all;
      for (const int threads : {1, 2}) {
        LoadedModel model(checkpoint, ops::make_cpu_backend({type, threads, kernels->name, false}), 64,
                          threads);
        Engine engine({&model});
        const RequestPtr request = window(tokens);
        run_requests(engine, {request, window({tokens.begin(), tokens.begin() + 50})});
        all.push_back(request->states);
      }
      REQUIRE(all[0].size() == truth.size());
      CHECK(std::memcmp(all[0].data(), all[1].data(), all[0].size() * sizeof(float)) == 0);
      if (type == DType::f32) CHECK(worst_of(truth, all[0]) < 2e-4);
      // A rounding to bf16 is one of 2^-9 at most, and a state goes through about fifty of them.
      CHECK(rms_of(truth, all[0]) < 50 * 0x1p-9 * rms_of(truth, std::vector<float>(truth.size())));
    }
}

TEST_CASE("an annotator keeps the keys of one layer, and nothing after a window") {
  const GeneratedCheckpoint files(annotator());
  TestEngine engine(files.dir(), 4096, "f32");
  logits(engine, window_tokens(engine.model().config().layout, 500, 1));
  CHECK(engine.model().decoder().kv().pages_in_use() == 0);
  CHECK(engine.model().decoder().kv().store().page_bytes() == 2 * 2 * 16 * 64 * sizeof(float));
  const WorkChunk chunk{0, 100, 100};
  const ModelConfig& config = engine.model().config();
  const double products = 100 * 2 * read_parameters(config), pairs = 100.0 * 100 * 3 * 4 * 64;
  CHECK(forward_work(config, {}, {&chunk, 1}).flops == doctest::Approx(products + pairs));
}

TEST_CASE("requests that an annotator cannot answer are refused by a sentence") {
  const GeneratedCheckpoint files(annotator());
  TestEngine engine(files.dir(), 4096);
  const auto problem = [&](const RequestPtr& request) {
    run_requests(engine.get(), {request});
    return request->outcome == Outcome::refused ? request->problem : "";
  };
  const RequestPtr states = window({40, 41});
  states->head = HeadKind::hidden;
  CHECK(problem(states) == "the model gives nothing but the classes of bases");
  CHECK(problem(window({40, 5000})).find("vocabulary") != std::string::npos);
  CHECK(problem(window(std::vector<uint32_t>(1025, 40))).find("context of 1024") != std::string::npos);
  const GeneratedCheckpoint causal(carbon::test::tiny());
  TestEngine other(causal.dir(), 4096);
  const RequestPtr classes = window({0, 5});
  run_requests(other.get(), {classes});
  CHECK(classes->problem == "the model has no classes of bases");
  CHECK_THROWS_WITH_AS(check_use(engine.model().checkpoint(), ModelUse::bases),
                       doctest::Contains("says which bases are coding"), Error);
  CHECK_THROWS_AS(check_use(engine.model().checkpoint(), ModelUse::states), Error);
  CHECK_THROWS_AS(check_use(engine.model().checkpoint(), ModelUse::labels), Error);
  CHECK_NOTHROW(check_use(engine.model().checkpoint(), ModelUse::coding));
  CHECK_THROWS_WITH_AS(check_use(other.model().checkpoint(), ModelUse::coding),
                       doctest::Contains("does not say which bases are coding"), Error);
}

TEST_CASE("files of an annotator that are not supported are refused by name") {
  const auto key = [](const char* name, const nlohmann::json& value) {
    return refusal("", [&](nlohmann::json& config) { config[name] = value; });
  };
  const auto names = [](const std::string& text, const char* name) {
    CAPTURE(text);
    CHECK(text.find(name) != std::string::npos);
  };
  CHECK(refusal("", [](nlohmann::json&) {}).empty());
  CHECK(refusal("--mlp-heads 1", [](nlohmann::json&) {}).empty());
  CHECK(refusal("", [](nlohmann::json& config) {
          for (const char* name : {"feature_layer", "k", "num_prediction_heads", "use_mlp_classifier"})
            config.erase(name);
        }).empty());
  CHECK(key("feature_layer", 3).empty());
  names(key("feature_layer", 2), "feature_layer 2");
  names(key("k", 1), "k 1");
  names(key("num_prediction_heads", 1), "num_prediction_heads 1");
  names(key("attention_bias", true), "attention_bias");
  names(key("mlp_bias", true), "mlp_bias");
  names(key("pretraining_tp", 2), "pretraining_tp 2");
  names(key("architectures", {"GenerannoForMaskedLM"}), "architectures");
  names(key("rope_scaling",
            {{"rope_type", "yarn"}, {"factor", 2.0}, {"original_max_position_embeddings", 512}}),
        "rope_scaling");
  names(key("rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}), "rope_type 'linear'");
  names(key("id2label", {{"0", "CDS"}, {"1", "NON_CODING"}}), "id2label");
  names(key("id2label", {{"0", "NON_CODING"}, {"1", "CDS"}, {"2", "UTR"}}), "id2label");
  names(key("vocab_size", 64), "vocab_size 64");
  names(key("head_dim", 32), "head_dim 32");
  for (const char* name : {"rope_theta", "rms_norm_eps", "num_hidden_layers", "hidden_size", "id2label"})
    names(refusal("", [&](nlohmann::json& config) { config.erase(name); }), name);
  names(key("use_mlp_classifier", true), "use_mlp_classifier of config.json is true");
  names(refusal("--mlp-heads 1", [](nlohmann::json& config) { config["use_mlp_classifier"] = false; }),
        "use_mlp_classifier of config.json is false");
}
