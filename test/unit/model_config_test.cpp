// config.json and dna_config.json: what is read, what is refused, and the numbers of YaRN.
#include "src/base/error.hpp"
#include "src/model/config.hpp"
#include "src/model/digest.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "test/unit/model_fixture.hpp"

using namespace model_test;
using carbon::ModelConfig;

namespace {

ModelConfig load(const TestModel& model) {
  const TempDir dir;
  model.write_configs(dir.path());
  return carbon::load_config(dir.str());
}

/// The message after one key of config.json is set. The value null does not remove the key.
std::string refusal(const std::string& key, const json& value) {
  TestModel model;
  model.config[key] = value;
  return message_of([&] { load(model); });
}

std::string refusal_without(const std::string& key) {
  TestModel model;
  model.config.erase(key);
  return message_of([&] { load(model); });
}

}  // namespace

TEST_CASE("config: a complete one is read") {
  const ModelConfig c = load(TestModel());
  CHECK(c.hidden == 8);
  CHECK(c.layers == 2);
  CHECK(c.heads == 2);
  CHECK(c.kv_heads == 1);
  CHECK(c.head_dim == 4);
  CHECK(c.intermediate == 6);
  CHECK(c.vocab == 4099);
  CHECK(c.max_positions == 64);
  CHECK(c.rms_eps == 1e-6f);
  CHECK(c.rope_theta == 10000.0);
  CHECK(c.tied_head);
  CHECK_FALSE(c.rope_scaling.yarn);
  CHECK(c.layout.first == 0);
  CHECK(c.layout.vocab_size == 4099);
}

TEST_CASE("config: keys that have a default, and keys that are null") {
  TestModel model;
  for (const char* key : {"head_dim", "num_key_value_heads", "tie_word_embeddings"}) model.config.erase(key);
  for (const char* key :
       {"rope_scaling", "rope_parameters", "quantization_config", "sliding_window", "mlp_bias"}) {
    model.config[key] = nullptr;
  }
  model.config["attention_bias"] = false;
  model.config["pretraining_tp"] = 1;
  model.config["bos_token_id"] = 1;
  model.config["architectures"] = {"CarbonForCausalLM"};
  const ModelConfig c = load(model);
  CHECK(c.head_dim == 4);
  CHECK(c.kv_heads == 2);
  CHECK_FALSE(c.tied_head);
}

TEST_CASE("config: architectures this program does not compute are refused") {
  CHECK(contains(refusal("model_type", "qwen3"), "must be Qwen3ForCausalLM"));
  CHECK(contains(refusal("model_type", "qwen2"), "model_type"));
  CHECK(contains(refusal("architectures", json::array({"Qwen3ForCausalLM"})), "architectures"));
  CHECK(contains(refusal("architectures", json::array({"MistralForCausalLM"})), "architectures"));
  CHECK(contains(refusal("architectures", json::array()), "architectures"));
  CHECK(contains(refusal_without("architectures"), "architectures is missing"));
  CHECK(contains(refusal("quantization_config", {{"bits", 4}}), "quantization_config"));
  CHECK(contains(refusal("sliding_window", 4096), "sliding_window"));
  CHECK(contains(refusal("hidden_act", "gelu"), "hidden_act"));
  CHECK(contains(refusal("attention_bias", true), "attention_bias"));
  CHECK(contains(refusal("mlp_bias", true), "mlp_bias"));
  CHECK(contains(refusal("partial_rotary_factor", 0.5), "partial_rotary_factor"));
}

TEST_CASE("config: sizes out of range are refused, and the message names the file") {
  for (const char* key : {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
                          "vocab_size", "max_position_embeddings", "head_dim", "num_key_value_heads"}) {
    CAPTURE(key);
    CHECK(contains(refusal(key, 0), key));
    CHECK(contains(refusal(key, -4), key));
    CHECK(contains(refusal(key, 2.5), key));
    CHECK(contains(refusal(key, "8"), key));
    CHECK(contains(refusal(key, uint64_t{1} << 62), "config.json"));
  }
  CHECK(contains(refusal("head_dim", 5), "even"));
  CHECK(contains(refusal("num_key_value_heads", 3), "must divide"));
  CHECK(contains(refusal("rms_norm_eps", 0), "rms_norm_eps"));
  CHECK(contains(refusal_without("rms_norm_eps"), "rms_norm_eps is missing"));
  CHECK(contains(refusal("tie_word_embeddings", "yes"), "tie_word_embeddings"));
  TestModel model;
  model.config.erase("head_dim");
  model.config["num_attention_heads"] = 3;
  model.config["num_key_value_heads"] = 3;
  CHECK(contains(message_of([&] { load(model); }), "head_dim is missing"));
}

TEST_CASE("config: rope_theta from either place, missing or contradicting is an error") {
  CHECK(contains(refusal_without("rope_theta"), "rope_theta is missing"));
  CHECK(contains(refusal("rope_theta", -1), "rope_theta"));
  TestModel model;
  model.config.erase("rope_theta");
  model.config["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  CHECK(load(model).rope_theta == 500000.0);
  CHECK_FALSE(load(model).rope_scaling.yarn);
  model.config["rope_theta"] = 10000.0;
  CHECK(contains(message_of([&] { load(model); }), "rope_theta"));
}

TEST_CASE("config: YaRN keys") {
  const json yarn = {{"type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}};
  TestModel model;
  model.config["rope_scaling"] = yarn;
  const ModelConfig c = load(model);
  CHECK(c.rope_scaling.yarn);
  CHECK(c.rope_scaling.factor == 4.0);
  CHECK(c.rope_scaling.original_max_positions == 32768);
  CHECK(c.rope_scaling.beta_fast == 32);
  CHECK(c.rope_scaling.beta_slow == 1);
  CHECK(c.rope_scaling.truncate);

  auto changed = [&](const char* key, const json& value) {
    json object = yarn;
    object[key] = value;
    return refusal("rope_scaling", object);
  };
  CHECK(changed("rope_type", "yarn") == "no error");
  CHECK(changed("mscale", 0) == "no error");
  CHECK(changed("attention_factor", 1.25) == "no error");
  CHECK(contains(changed("rope_type", "llama3"), "differs from rope_type"));
  CHECK(contains(changed("type", "dynamic"), "unknown rope_type 'dynamic'"));
  CHECK(contains(changed("type", "default"), "not known for rope_type default"));
  CHECK(contains(changed("factor", 0.5), "factor"));
  CHECK(contains(changed("factor", nullptr), "factor is missing"));
  CHECK(contains(changed("original_max_position_embeddings", nullptr), "original_max_position_embeddings"));
  CHECK(contains(changed("mscale", 0.7), "mscale"));
  CHECK(contains(changed("mscale_all_dim", 1), "mscale_all_dim"));
  CHECK(contains(changed("beta_slow", 64), "beta_fast"));
  CHECK(contains(changed("attention_factor", 0), "attention_factor"));
  CHECK(contains(changed("low_freq_factor", 1), "low_freq_factor"));
  CHECK(contains(refusal("rope_scaling", "yarn"), "not a JSON object"));

  model.config["rope_parameters"] = {{"rope_type", "default"}};
  CHECK(contains(message_of([&] { load(model); }), "disagree"));
}

TEST_CASE("config: token layout") {
  TestModel released;
  released.dna_config = nullptr;
  const TempDir dir;
  released.write_configs(dir.path());
  try {
    carbon::load_config(dir.str());
    FAIL("a vocabulary that nothing describes");
  } catch (const carbon::Error& error) {
    const std::string text = error.what();
    for (const std::string& part :
         {std::string("vocab_size 4099"), dir.str() + "/dna_config.json", std::string("docs/model.md")})
      CHECK(contains(text, part));
    CHECK(error.advice() ==
          carbon::Advice{"'carbon models --skeleton {0}' writes one to fill in", {dir.str()}});
  }
  released.config["vocab_size"] = 155776;
  CHECK(load(released).layout.first == 151669);
  CHECK(load(released).layout.vocab_size == 155776);

  auto changed = [](const char* key, const json& value) {
    TestModel model;
    model.dna_config[key] = value;
    return message_of([&] { load(model); });
  };
  CHECK(changed("dna_vocab_size", 4107) == "no error");
  CHECK(changed("dna_special_tokens", {"<dna>", "</dna>", "<oov>"}) == "no error");
  CHECK(contains(changed("k", 5), "k 5"));
  CHECK(contains(changed("k", nullptr), "k is missing (null); fill it in"));
  CHECK(contains(changed("dna_start_id", 1), "leaves no room"));
  CHECK(contains(changed("dna_start_id", -1), "dna_start_id"));
  CHECK(contains(changed("dna_vocab_size", 4000), "dna_vocab_size"));
  CHECK(contains(changed("dna_special_tokens", {"<dna>", "</dna>", "<oov>", "<s>"}), "dna_special_tokens"));
}

TEST_CASE("config: files that are not JSON, repeat a key or are absent") {
  const TempDir dir;
  CHECK(contains(message_of([&] { carbon::load_config(dir.str()); }), "no config.json"));
  const auto message = [&](const std::string& text) {
    write_text(dir.path() / "config.json", text);
    return message_of([&] { carbon::load_config(dir.str()); });
  };
  CHECK(contains(message(""), "not valid JSON"));
  CHECK(contains(message("{\"model_type\": \"llama\""), "not valid JSON at byte"));
  CHECK(contains(message("[1]"), "not a JSON object"));
  CHECK(contains(message("{\"hidden_size\": 8, \"hidden_size\": 16}"), "appears twice"));
  CHECK(contains(message("{\"a\": 1e999}"), "number outside the range"));
  CHECK(contains(message(std::string(100000, '[')), "nested too deeply"));
  CHECK(contains(message("{\"a\nb\": 1, \"\\u000a\": 1, \"\\n\": 2}"), "not valid JSON"));
  CHECK(contains(message("{\"\\n\": 1, \"\\n\": 2}"), "'\\x0a' appears twice"));
}

// docs/model.md, "YaRN"; the values were computed from the formula in another language.
TEST_CASE("config: YaRN frequencies of the published sizes") {
  struct Sample {
    size_t index;
    double value;
  };
  ModelConfig c;
  c.rope_theta = 5e6;
  c.rope_scaling.yarn = true;
  c.rope_scaling.factor = 4;
  c.rope_scaling.original_max_positions = 32768;
  CHECK(carbon::rope_attention_factor(c) == doctest::Approx(1.138629436111989).epsilon(1e-14));
  auto check = [&](size_t head_dim, size_t low, size_t high, std::vector<Sample> samples) {
    c.head_dim = head_dim;
    const std::vector<double> inv_freq = carbon::rope_inv_freq(c);
    REQUIRE(inv_freq.size() == head_dim / 2);
    for (const Sample& s : samples) CHECK(std::abs(inv_freq[s.index] / s.value - 1) < 1e-13);
    ModelConfig plain = c;
    plain.rope_scaling = {};
    const std::vector<double> unscaled = carbon::rope_inv_freq(plain);
    CHECK(inv_freq[low] == unscaled[low]);
    CHECK(inv_freq[low + 1] < unscaled[low + 1]);
    CHECK(inv_freq[high - 1] > unscaled[high - 1] / 4);
    CHECK(inv_freq[high] == unscaled[high] / 4);
  };
  check(96, 15, 27,
        {{0, 1},
         {16, 0.00548253325914913},
         {21, 0.000732960617724888},
         {27, 4.26353056962325e-05},
         {47, 6.89496203845562e-08}});
  check(128, 21, 36,
        {{0, 1},
         {22, 0.00473099693074646},
         {28, 0.000762279042433884},
         {36, 4.26353056962325e-05},
         {63, 6.36269947009402e-08}});

  c.rope_scaling.attention_factor = 1.5;
  CHECK(carbon::rope_attention_factor(c) == 1.5);
  c.rope_scaling = {};
  CHECK(carbon::rope_attention_factor(c) == 1.0);
}

TEST_CASE("config: the fingerprint follows what changes numbers") {
  const TestModel model;
  const std::string base = carbon::config_fingerprint(load(model));
  auto after = [&](const char* key, const json& value) {
    TestModel other = model;
    other.config[key] = value;
    return carbon::config_fingerprint(load(other));
  };
  CHECK(after("max_position_embeddings", 128) == base);
  CHECK(after("rms_norm_eps", 1e-5) != base);
  CHECK(after("rope_theta", 500000.0) != base);
  CHECK(after("rope_scaling",
              {{"rope_type", "yarn"}, {"factor", 2}, {"original_max_position_embeddings", 64}}) != base);
  CHECK(contains(base, "rms_norm_eps="));
}
