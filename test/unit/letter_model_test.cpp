// Models of one base a token in files: config.json of a Qwen3, the frequencies of Llama 3, tokenizer.json.
#include <doctest/doctest.h>

#include <cmath>

#include "src/model/checkpoint.hpp"
#include "src/model/config.hpp"
#include "src/model/digest.hpp"
#include "src/model/work.hpp"
#include "test/unit/model_fixture.hpp"

using namespace model_test;
using carbon::ModelConfig;

namespace {

ModelConfig read(const LetterModel& model) {
  const TempDir dir;
  model.write_configs(dir.path());
  return carbon::load_config(dir.str());
}

/// The message after `change` of a model.
template <class Change>
std::string message_after(Change change) {
  LetterModel model;
  change(model);
  return message_of([&] { read(model); });
}

std::string refusal(const char* key, const json& value) {
  return message_after([&](LetterModel& model) { model.config[key] = value; });
}

/// The message after a value of tokenizer.json is set.
std::string tokenizer_refusal(const std::string& place, const json& value) {
  return message_after([&](LetterModel& model) { model.tokenizer[json::json_pointer(place)] = value; });
}

std::string tokenizer_refusal_without(const std::string& place) {
  const json::json_pointer pointer(place);
  return message_after(
      [&](LetterModel& model) { model.tokenizer[pointer.parent_pointer()].erase(pointer.back()); });
}

carbon::Checkpoint open(const LetterModel& model, const TempDir& dir) {
  model.write(dir.path());
  return carbon::Checkpoint(dir.str());
}

}  // namespace

TEST_CASE("letters: a Qwen3 is read") {
  LetterModel model;
  const ModelConfig c = read(model);
  CHECK(c.head_norm);
  CHECK(c.head_dim == 4);
  CHECK(c.layout.vocab_size == 7);
  CHECK(c.layout.bases() == 1);
  REQUIRE(c.layout.letters.has_value());
  CHECK(*c.layout.letters == carbon::LetterVocabulary{2, 1, std::nullopt, {3, 6, 4, 5}});
  REQUIRE(c.llama3_rope.has_value());
  CHECK(*c.llama3_rope == carbon::Llama3Rope{8, 1, 4, 8192});
  CHECK(carbon::rope_attention_factor(c) == 1);

  // What transformers, Levanter and others write beside it.
  model.config["sliding_window"] = 4096;
  model.config["use_sliding_window"] = false;
  model.config["max_window_layers"] = 2;
  model.config["no_bias"] = true;
  model.config["attention_bias"] = false;
  model.config["layer_types"] = {"full_attention", "full_attention"};
  CHECK(carbon::config_fingerprint(read(model)) == carbon::config_fingerprint(c));
}

TEST_CASE("letters: what a Qwen3 may not have is refused") {
  CHECK(contains(refusal("use_sliding_window", true), "sliding-window attention"));
  CHECK(contains(refusal("use_sliding_window", "no"), "use_sliding_window"));
  CHECK(contains(refusal("layer_types", json::array({"full_attention", "sliding_attention"})),
                 "only full_attention"));
  CHECK(contains(refusal("layer_types", "full_attention"), "only full_attention"));
  CHECK(contains(refusal("attention_bias", true), "biases are not supported"));
  CHECK(contains(refusal("architectures", json::array({"Qwen3ForSequenceClassification"})),
                 "must be Qwen3ForCausalLM"));
  CHECK(contains(refusal("architectures", json::array({5})), "must be Qwen3ForCausalLM"));
  CHECK(contains(refusal("quantization_config", {{"bits", 4}}), "quantization_config"));
  for (const char* size : {"head_dim", "num_key_value_heads"})
    CHECK(contains(message_after([&](LetterModel& model) { model.config.erase(size); }),
                   std::string(size) + " is missing"));
  CHECK(contains(message_after([](LetterModel& model) { model.tokenizer = nullptr; }),
                 "tokenizer.json is missing"));
  CHECK(contains(message_after([](LetterModel& model) {
                   model.dna_config = {{"k", 6}};
                 }),
                 "belongs to that of Carbon"));
}

TEST_CASE("letters: norms of heads are tensors of the model, with the width of a head") {
  LetterModel model;
  const TempDir dir;
  const carbon::Checkpoint checkpoint = open(model, dir);
  const carbon::DecoderTensors tensors = carbon::decoder_tensors(checkpoint);
  CHECK(tensors.layers[1].q_norm.cols == 4);
  CHECK(tensors.layers[1].k_norm.cols == 4);
  CHECK(tensors.layers[1].q_norm.data != tensors.layers[1].k_norm.data);

  const auto message = [](const LetterModel& changed) {
    const TempDir other;
    return message_of([&] { open(changed, other); });
  };
  const std::string name = "model.layers.1.self_attn.k_norm.weight";
  model.tensors[name].shape = {8};
  CHECK(contains(message(model), name + " has shape [8], but config.json requires [4]"));
  model.tensors.erase(name);
  CHECK(contains(message(model), name + " [4] is missing"));

  TestModel llama;
  llama.tensors[name] = {"BF16", {4}};
  const TempDir llama_dir;
  llama.write(llama_dir.path());
  CHECK(contains(message_of([&] { carbon::Checkpoint{llama_dir.str()}; }), "would change the result"));
}

TEST_CASE("letters: MarinDNA m5.1 has the published number of parameters") {
  ModelConfig c;
  c.hidden = 1920;
  c.layers = 19;
  c.heads = c.kv_heads = 15;
  c.head_dim = 128;
  c.intermediate = 7680;
  c.vocab = 7;
  c.head_norm = true;
  CHECK(carbon::parameters(c) == 1120772224);
}

TEST_CASE("letters: the digest follows ids, frequencies and norms") {
  const LetterModel model;
  const TempDir cache;
  const Environment environment("XDG_CACHE_HOME", cache.str());
  const auto digest = [](const LetterModel& changed) {
    const TempDir dir;
    return open(changed, dir).sha256();
  };
  const std::string base = digest(model);
  const auto after_rope = [&](const char* key, const json& value) {
    LetterModel other = model;
    other.config["rope_scaling"][key] = value;
    return digest(other);
  };
  CHECK(digest(model) == base);
  CHECK(after_rope("factor", 4) != base);
  CHECK(after_rope("low_freq_factor", 2) != base);
  CHECK(after_rope("high_freq_factor", 8) != base);
  CHECK(after_rope("original_max_position_embeddings", 4096) != base);
  LetterModel other = model;
  other.config["rope_scaling"] = nullptr;
  CHECK(digest(other) != base);
  other = model;
  other.tokenizer["model"]["vocab"]["a"] = 4;
  other.tokenizer["model"]["vocab"]["c"] = 3;
  CHECK(digest(other) != base);
  other = model;
  other.tensors["model.layers.0.self_attn.q_norm.weight"].like = "model.norm.weight";
  CHECK(digest(other) != base);
}

// docs/model.md, "Llama 3 frequencies"; the values were computed piece by piece in another language.
TEST_CASE("letters: the frequencies of Llama 3") {
  ModelConfig c;
  c.head_dim = 128;
  c.rope_theta = 5e5;
  const std::vector<double> plain = carbon::rope_inv_freq(c);
  c.llama3_rope = carbon::Llama3Rope{8, 1, 4, 8192};
  const std::vector<double> scaled = carbon::rope_inv_freq(c);
  const std::pair<size_t, double> samples[] = {{0, 1.0},
                                               {1, 0.8146172338565447},
                                               {27, 0.003942276030116656},
                                               {28, 0.003211445994752591},
                                               {29, 0.002166570763503359},
                                               {30, 0.0013718935677611381},
                                               {31, 0.0008567514129196321},
                                               {34, 0.0001785078127679964},
                                               {35, 9.556212353964683e-05},
                                               {63, 3.068925988914511e-07}};
  for (const auto& [j, value] : samples) CHECK(std::abs(scaled[j] / value - 1) < 1e-13);
  int changed = 0;
  for (size_t j = 0; j < scaled.size(); ++j) {
    if (scaled[j] != plain[j]) ++changed;
    if (j <= 28) CHECK(scaled[j] == plain[j]);
    if (j >= 35) CHECK(scaled[j] == plain[j] / 8);
  }
  CHECK(changed == 35);
}

TEST_CASE("letters: keys of the rope_type llama3") {
  const auto changed = [](const char* key, const json& value) {
    return message_after([&](LetterModel& model) { model.config["rope_scaling"][key] = value; });
  };
  for (const char* key :
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    CAPTURE(key);
    for (const json& wrong : {json(0), json(-1), json("8"), json(nullptr)})
      CHECK(contains(changed(key, wrong), key));
  }
  CHECK(contains(changed("factor", 0.5), "1 or more"));
  CHECK(contains(changed("high_freq_factor", 1), "must be above low_freq_factor"));
  CHECK(contains(changed("beta_fast", 32), "not known for rope_type llama3"));
  CHECK(contains(changed("rope_type", "longrope"), "only default, yarn and llama3"));
  CHECK(contains(message_after([](LetterModel& model) {
                   model.config["rope_parameters"] = model.config["rope_scaling"];
                   model.config["rope_parameters"]["factor"] = 4;
                 }),
                 "rope_scaling and rope_parameters disagree"));
  const ModelConfig config = read(LetterModel());
  for (const char* asked : {"yarn:4", "none"}) {
    ModelConfig c = config;
    CHECK(contains(message_of([&] { carbon::apply_rope_scaling(carbon::parse_rope_scaling(asked), c); }),
                   "rope_type llama3"));
  }
  // The scaling is not one of a family: a Llama may have it.
  TestModel llama;
  llama.config["rope_scaling"] = LetterModel().config["rope_scaling"];
  const TempDir dir;
  llama.write_configs(dir.path());
  CHECK(carbon::load_config(dir.str()).llama3_rope.has_value());
}

TEST_CASE("letters: ids come from tokenizer.json") {
  LetterModel model;
  model.tokenizer["model"]["vocab"] = {{"[PAD]", 0}, {"[UNK]", 7}, {"[BOS]", 2}, {"[EOS]", 3},
                                       {"t", 4},     {"g", 5},     {"c", 6},     {"a", 1}};
  model.config["vocab_size"] = 8;
  CHECK(*read(model).layout.letters == carbon::LetterVocabulary{2, 7, std::nullopt, {1, 4, 6, 5}});
  json& processor = model.tokenizer["post_processor"];
  processor["single"].push_back({{"SpecialToken", {{"id", "[EOS]"}, {"type_id", 0}}}});
  processor["special_tokens"]["[EOS]"] = {{"id", "[EOS]"}, {"ids", json::array({3})}};
  CHECK(*read(model).layout.letters == carbon::LetterVocabulary{2, 7, 3, {1, 4, 6, 5}});
  processor["special_tokens"]["[EOS]"]["ids"] = json::array({4});
  CHECK(contains(message_of([&] { read(model); }), "[EOS]/ids is [4] and must be [3]"));
  // A vocabulary may be filled up to a round number of rows.
  model = LetterModel();
  model.config["vocab_size"] = 128;
  CHECK(read(model).layout.letters.has_value());
}

TEST_CASE("letters: a tokenizer.json of another kind, or a hostile one") {
  CHECK(contains(tokenizer_refusal("/model/type", "BPE"), "model/type is \"BPE\" and must be \"WordLevel\""));
  CHECK(contains(tokenizer_refusal("/model/unk_token", "N"), "model/unk_token"));
  CHECK(contains(tokenizer_refusal("/normalizer", nullptr), "normalizer/type is missing"));
  CHECK(contains(tokenizer_refusal("/pre_tokenizer/pattern", {{"Regex", ".{6}"}}), "pre_tokenizer/pattern"));
  CHECK(contains(tokenizer_refusal("/pre_tokenizer/invert", true), "pre_tokenizer/invert"));
  CHECK(contains(tokenizer_refusal("/post_processor", nullptr), "post_processor/type is missing"));
  CHECK(
      contains(tokenizer_refusal("/post_processor/single/0/SpecialToken/id", "[CLS]"), "must be \"[BOS]\""));
  CHECK(contains(tokenizer_refusal("/post_processor/single/2", {{"Sequence", {{"id", "A"}}}}), "single"));
  CHECK(contains(tokenizer_refusal("/post_processor/special_tokens/[BOS]/ids", json::array({3})),
                 "must be [2]"));
  CHECK(contains(tokenizer_refusal("/post_processor/single", 5), "single/0"));
  CHECK(contains(tokenizer_refusal("/added_tokens", 5), "added_tokens is not an array"));
  CHECK(contains(tokenizer_refusal("/added_tokens/0", 5), "an entry of added_tokens"));
  CHECK(contains(tokenizer_refusal("/added_tokens/0/content", json::array({1})), "an entry of added_tokens"));
  CHECK(contains(tokenizer_refusal("/added_tokens/0/id", 1), "two ids, 0 and 1"));
  CHECK(contains(tokenizer_refusal("/model/vocab", json::array()), "model.vocab is not an object"));
  for (const char* token : {"a", "c", "g", "t", "[BOS]", "[UNK]"}) {
    CAPTURE(token);
    const std::string place = std::string("/model/vocab/") + token;
    const std::string text = tokenizer_refusal_without(place);
    CHECK((contains(text, std::string("token ") + token + " is missing") || token == std::string("[BOS]")));
    for (const json& wrong :
         {json(7), json(-1), json(2.5), json("3"), json(uint64_t{1} << 40), json(nullptr)})
      CHECK(contains(tokenizer_refusal(place, wrong), "must be a whole number below 7"));
  }
  CHECK(contains(tokenizer_refusal("/model/vocab/a", 4), "id 4 is given to two tokens, 'a' and 'c'"));
  for (const char* token : {"n", "A", "ac", "", "[]", "\n"})
    CHECK(contains(tokenizer_refusal(std::string("/model/vocab/") + token, 0),
                   "only tokenizers of single bases"));

  const TempDir dir;
  LetterModel().write_configs(dir.path());
  const auto message = [&](const std::string& text) {
    write_text(dir.path() / "tokenizer.json", text);
    return message_of([&] { carbon::load_config(dir.str()); });
  };
  CHECK(contains(message(""), "not valid JSON"));
  CHECK(contains(message("[]"), "model/type is missing"));
  CHECK(contains(message("7"), "model/type is missing"));
  CHECK(contains(message(std::string(100000, '[')), "nested too deeply"));
  CHECK(contains(message("{\"model\": \"" + std::string(size_t{2} << 20, 'a') + "\"}"), "tokenizer.json"));
  CHECK(contains(message("{\"model\": 1, \"model\": 2}"), "appears twice"));
}
