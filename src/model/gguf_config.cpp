// From keys of llama.cpp to those of config.json, which are then checked as always. See gguf_model.hpp.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/model/gguf_model.hpp"

namespace carbon {
namespace {

using json = nlohmann::json;

constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";

[[noreturn]] void fail(const GgufFile& file, const std::string& what) {
  throw Error("load_gguf", file.path() + ": " + what);
}
[[noreturn]] void fail(const GgufFile& file, std::string_view key, const std::string& what) {
  fail(file, std::string(key) + " " + file.find(key)->shown() + ": " + what);
}

struct Name {
  const char* in_config;
  const char* in_gguf;
};
constexpr Name kWholeNumbers[] = {{"hidden_size", "llama.embedding_length"},
                                  {"num_hidden_layers", "llama.block_count"},
                                  {"intermediate_size", "llama.feed_forward_length"},
                                  {"num_attention_heads", "llama.attention.head_count"},
                                  {"num_key_value_heads", "llama.attention.head_count_kv"},
                                  {"head_dim", "llama.attention.key_length"},
                                  {"max_position_embeddings", "llama.context_length"},
                                  {"vocab_size", "llama.vocab_size"}};
constexpr Name kNumbers[] = {{"rms_norm_eps", "llama.attention.layer_norm_rms_epsilon"},
                             {"rope_theta", "llama.rope.freq_base"}};
constexpr Name kYarnWhole[] = {
    {"original_max_position_embeddings", "llama.rope.scaling.original_context_length"}};
constexpr Name kYarn[] = {{"factor", "llama.rope.scaling.factor"},
                          {"beta_fast", "llama.rope.scaling.yarn_beta_fast"},
                          {"beta_slow", "llama.rope.scaling.yarn_beta_slow"}};

/// Keys whose only accepted value changes nothing, with that value.
struct Neutral {
  const char* key;
  double value;
};
constexpr Neutral kNeutral[] = {{"llama.expert_count", 0},
                                {"llama.expert_used_count", 0},
                                {"llama.attention.sliding_window", 0},
                                {"llama.rope.scaling.yarn_ext_factor", 1},
                                {"llama.rope.scaling.yarn_log_multiplier", 0},
                                {"llama.logit_scale", 1},
                                {"llama.residual_scale", 1},
                                {"llama.embedding_scale", 1},
                                {"llama.attention.clamp_kqv", 0},
                                {"llama.attention.max_alibi_bias", 0}};

SettingNames setting_names() {
  SettingNames names;
  for (const Name& name : kWholeNumbers) names[name.in_config] = name.in_gguf;
  for (const Name& name : kNumbers) names[name.in_config] = name.in_gguf;
  for (const Name& name : kYarnWhole) names[name.in_config] = name.in_gguf;
  for (const Name& name : kYarn) names[name.in_config] = name.in_gguf;
  names["rope_type"] = "llama.rope.scaling.type";
  return names;
}

void check_architecture(const GgufFile& file) {
  const GgufValue* const value = file.find("general.architecture");
  if (value == nullptr) fail(file, "general.architecture is missing");
  if (value->text() == "qwen3")
    fail(file, "general.architecture",
         "a MarinDNA is not read from GGUF; give the directory of its checkpoint with model.safetensors");
  if (value->text() != "llama") fail(file, "general.architecture", "only 'llama' is supported");
}

/// A key of the architecture that is not read could change results.
void check_known(const GgufFile& file) {
  std::set<std::string> known = {"llama.attention.value_length", "llama.rope.dimension_count",
                                 "llama.rope.scaling.finetuned", "llama.attention.causal"};
  for (const auto& [key, name] : setting_names()) known.insert(name);
  for (const Neutral& neutral : kNeutral) known.insert(neutral.key);
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("llama.") && !known.contains(key))
      fail(file, "key '" + printable(key) + "' is not known and could change results");
  }
  for (const Neutral& neutral : kNeutral) {
    if (const GgufValue* const value = file.find(neutral.key); value && value->number() != neutral.value)
      fail(file, neutral.key, "not supported");
  }
  if (const GgufValue* const causal = file.find("llama.attention.causal");
      causal && causal->boolean() != true)
    fail(file, "llama.attention.causal", "only causal attention is supported");
}

/// A value of a wrong type is handed on as the text that messages show, and refused by the reader.
template <class Numbers>
void copy(const GgufFile& file, const Numbers& names, bool whole, json& object) {
  for (const Name& name : names) {
    const GgufValue* const value = file.find(name.in_gguf);
    if (value == nullptr) continue;
    if (const auto n = value->whole()) {
      object[name.in_config] = *n;
    } else if (const auto x = value->number(); x && !whole) {
      object[name.in_config] = *x;
    } else {
      object[name.in_config] = value->shown();
    }
  }
}

json rope_settings(const GgufFile& file) {
  const GgufValue* const type = file.find("llama.rope.scaling.type");
  const std::string text = type ? std::string(type->text().value_or("a value that is no text")) : "none";
  if (text == "none") {
    for (const auto& [key, value] : file.metadata())
      if (key.starts_with("llama.rope.scaling.") && key != "llama.rope.scaling.type" &&
          key != "llama.rope.scaling.finetuned")
        fail(file, key, "without a llama.rope.scaling.type that uses it");
    return nullptr;
  }
  if (text != "yarn") fail(file, "llama.rope.scaling.type", "only none and yarn are supported");
  json rope = {{"rope_type", "yarn"}};
  copy(file, kYarnWhole, true, rope);
  copy(file, kYarn, false, rope);
  return rope;
}

/// The number of tokens: as the file says, or as many as it lists.
uint64_t vocabulary_size(const GgufFile& file) {
  const GgufValue *const size = file.find("llama.vocab_size"), *const tokens = file.find(kTokensKey);
  const std::optional<uint64_t> listed = tokens ? tokens->length() : std::nullopt;
  if (tokens && !listed) fail(file, kTokensKey, "must be a list");
  if (!size && !listed) fail(file, "llama.vocab_size and " + std::string(kTokensKey) + " are missing");
  if (!size) return *listed;
  if (listed && size->whole() != listed)
    fail(file, "llama.vocab_size",
         "but " + std::string(kTokensKey) + " has " + std::to_string(*listed) + " tokens");
  return size->whole().value_or(0);
}

/// Where the DNA tokens lie. The texts of 6-mers are not read: a text such as CCCCCC can also be that of
/// another token, and writers tell the two apart in different ways.
TokenLayout layout_of(const GgufFile& file, size_t vocab) {
  TokenLayout layout;
  const GgufValue* const value = file.find(kTokensKey);
  const auto tokens = value ? value->texts() : std::vector<std::string_view>();
  if (!tokens) fail(file, kTokensKey, "must be a list of texts");
  const auto first = std::find(tokens->begin(), tokens->end(), "<dna>");
  if (first == tokens->end()) {
    if (vocab != layout.vocab_size)
      fail(file, std::string(kTokensKey) + " has no <dna>, and only the released vocabulary of " +
                     std::to_string(layout.vocab_size) +
                     " tokens is known without it; this is not a DNA model");
    return layout;
  }
  const auto at = static_cast<uint64_t>(first - tokens->begin());
  const auto is = [&](uint64_t id, std::string_view text) {
    return id < tokens->size() && (*tokens)[id] == text;
  };
  if (std::find(first + 1, tokens->end(), "<dna>") != tokens->end())
    fail(file, std::string(kTokensKey) + " has <dna> twice");
  if (!is(at + 1, "</dna>") || !is(at + 2, "<oov>"))
    fail(file, std::string(kTokensKey) + ": after <dna> (id " + std::to_string(at) +
                   ") must come </dna> and <oov>; this vocabulary is not known");
  const uint64_t needed = 3 + kKmerCount;
  if (at + needed > vocab)
    fail(file, std::string(kTokensKey) + ": <dna> has id " + std::to_string(at) +
                   ", which leaves no room for " + std::to_string(needed) + " DNA tokens among " +
                   std::to_string(vocab));
  // An early tokenizer had a fourth special token before the 6-mers, which shifts the id of every 6-mer.
  if (const std::string_view next = (*tokens)[at + 3];
      !next.starts_with("AAAAAA") && !next.starts_with("[PAD"))
    fail(file, std::string(kTokensKey) + ": id " + std::to_string(at + 3) + " is '" + printable(next) +
                   "' and not the first 6-mer AAAAAA; this vocabulary is not known");
  layout.first = static_cast<uint32_t>(at);
  layout.vocab_size = static_cast<uint32_t>(vocab);
  return layout;
}

}  // namespace

ModelConfig gguf_config(const GgufFile& file) {
  check_architecture(file);
  check_known(file);
  json settings = {{"tie_word_embeddings", true}};
  copy(file, kWholeNumbers, true, settings);
  copy(file, kNumbers, false, settings);
  settings["vocab_size"] = vocabulary_size(file);
  if (json rope = rope_settings(file); !rope.is_null()) settings["rope_scaling"] = std::move(rope);
  ModelConfig config = config_from(file.path(), settings, setting_names());
  for (const char* key :
       {"llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count"}) {
    if (const GgufValue* const value = file.find(key); value && value->whole() != config.head_dim)
      fail(file, key, "must be the " + std::to_string(config.head_dim) + " numbers of a head");
  }
  config.layout = layout_of(file, config.vocab);
  return config;
}

}  // namespace carbon
