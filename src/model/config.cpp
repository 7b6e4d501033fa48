// config.json and dna_config.json, checked key by key, and which family that makes. See config.hpp.
#include "src/model/config.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/model/vocabulary_files.hpp"

namespace carbon {

namespace {

using json = nlohmann::json;

constexpr size_t kMaxConfigBytes = size_t{16} << 20;
constexpr size_t kReleasedVocab = 155776;
constexpr const char* kLlamaArchitecture = "LlamaForCausalLM";
constexpr const char* kGeneratorArchitecture = "GENERatorForCausalLM";
constexpr const char* kClassifierArchitecture = "LlamaForSequenceClassification";
constexpr const char* kQwen3Architecture = "Qwen3ForCausalLM";
constexpr const char* kAnnotatorArchitecture = "GenerannoForTokenClassification";
// Limits far above those of any Llama, and small enough that no product of two sizes overflows.
constexpr uint64_t kMaxHidden = 1 << 17, kMaxLayers = 1 << 10, kMaxHeads = 1 << 10, kMaxHeadDim = 1 << 10,
                   kMaxIntermediate = 1 << 20, kMaxVocab = 1 << 22, kMaxLabels = 1 << 16;

/// Reads the keys of a JSON object. Its messages name the file, the key and the value.
class Keys {
 public:
  Keys(std::string where, const json& object, SettingNames names = {})
      : where_(std::move(where)), object_(object), names_(std::move(names)) {
    if (!object.is_object()) fail("is not a JSON object");
  }

  /// What the file calls a key.
  std::string name(const std::string& key) const {
    const auto other = names_.find(key);
    return other == names_.end() ? key : other->second;
  }
  const SettingNames& names() const { return names_; }
  /// True if the file is not a config.json and has names of its own.
  bool renamed() const { return !names_.empty(); }

  [[noreturn]] void fail(const std::string& what) const { throw Error("load_config", where_ + ": " + what); }
  [[noreturn]] void fail(const char* key, const std::string& what, const Advice& advice = {}) const {
    throw Error(
        "load_config",
        where_ + ": " + name(key) + " " + (given(key) ? printable(value(key).dump()) + ": " : "") + what,
        advice);
  }

  /// Present and not null.
  bool given(const char* key) const { return object_.contains(key) && !object_[key].is_null(); }
  const json& value(const char* key) const { return object_[key]; }

  const json& require(const char* key) const {
    if (!given(key)) fail(name(key) + " is missing" + (object_.contains(key) ? " (null); fill it in" : ""));
    return value(key);
  }

  uint64_t integer(const char* key, uint64_t low, uint64_t high) const {
    const json& v = require(key);
    if (!v.is_number_unsigned() || v.get<uint64_t>() < low || v.get<uint64_t>() > high) {
      fail(key, "must be an integer from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return v.get<uint64_t>();
  }

  double positive(const char* key) const {
    const json& v = require(key);
    if (!v.is_number() || !std::isfinite(v.get<double>()) || v.get<double>() <= 0) {
      fail(key, "must be a positive number");
    }
    return v.get<double>();
  }

  bool boolean(const char* key, bool otherwise) const {
    if (!given(key)) return otherwise;
    if (!value(key).is_boolean()) fail(key, "must be true or false");
    return value(key).get<bool>();
  }

  std::string text(const char* key) const {
    const json& v = require(key);
    if (!v.is_string()) fail(key, "must be a string");
    return v.get<std::string>();
  }

  /// Fails with `why` unless the key is absent, null or `neutral`, because other values are not implemented.
  void refuse_unless(const char* key, const json& neutral, const char* why) const {
    if (given(key) && value(key) != neutral) fail(key, why);
  }

 private:
  std::string where_;
  const json& object_;
  SettingNames names_;
};

/// The contents of `rope_scaling` (transformers 4) or of `rope_parameters` (transformers 5).
struct RopeObject {
  RopeScaling scaling;
  std::optional<Llama3Rope> llama3;
  std::optional<double> theta;

  bool same_scaling(const RopeObject& other) const {
    return scaling == other.scaling && llama3 == other.llama3;
  }
};

std::string rope_type(const Keys& keys) {
  const char* key = keys.given("rope_type") ? "rope_type" : "type";
  if (!keys.given(key)) return "default";
  std::string type = keys.text(key);
  if (keys.given("type") && keys.text("type") != type) keys.fail("type", "differs from rope_type");
  return type;
}

double read_original_positions(const Keys& keys) {
  return static_cast<double>(keys.integer("original_max_position_embeddings", 1, kMaxPositions));
}

double read_factor(const Keys& keys) {
  const double factor = keys.positive("factor");
  if (factor < 1) keys.fail("factor", "must be 1 or more");
  return factor;
}

RopeScaling read_yarn(const Keys& keys) {
  keys.refuse_unless("mscale", 0, "not supported, remove it");
  keys.refuse_unless("mscale_all_dim", 0, "not supported, remove it");
  RopeScaling s;
  s.yarn = true;
  s.factor = read_factor(keys);
  s.original_max_positions = read_original_positions(keys);
  if (keys.given("beta_fast")) s.beta_fast = keys.positive("beta_fast");
  if (keys.given("beta_slow")) s.beta_slow = keys.positive("beta_slow");
  if (s.beta_fast < s.beta_slow) keys.fail("beta_fast is below beta_slow");
  if (keys.given("attention_factor")) s.attention_factor = keys.positive("attention_factor");
  s.truncate = keys.boolean("truncate", true);
  return s;
}

Llama3Rope read_llama3(const Keys& keys) {
  Llama3Rope rope;
  rope.factor = read_factor(keys);
  rope.low_factor = keys.positive("low_freq_factor");
  rope.high_factor = keys.positive("high_freq_factor");
  if (rope.high_factor <= rope.low_factor) keys.fail("high_freq_factor", "must be above low_freq_factor");
  rope.original_max_positions = read_original_positions(keys);
  return rope;
}

RopeObject read_rope(const std::string& where, const json& object, const SettingNames& names) {
  const Keys keys(where, object, names);
  const std::string type = rope_type(keys);
  std::set<std::string> known = {"rope_type", "type", "rope_theta", "partial_rotary_factor"};
  if (type == "yarn") {
    known.insert({"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "attention_factor",
                  "truncate", "mscale", "mscale_all_dim"});
  } else if (type == "llama3") {
    known.insert({"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"});
  } else if (type != "default") {
    keys.fail("unknown rope_type '" + printable(type) + "': only default, yarn and llama3 are supported");
  }
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key) && !value.is_null()) {
      keys.fail("key '" + printable(key) + "' is not known for rope_type " + type);
    }
  }
  keys.refuse_unless("partial_rotary_factor", 1, "rotating a part of the head is not supported");

  RopeObject rope;
  if (keys.given("rope_theta")) rope.theta = keys.positive("rope_theta");
  if (type == "yarn") rope.scaling = read_yarn(keys);
  if (type == "llama3") rope.llama3 = read_llama3(keys);
  return rope;
}

void read_rotary(const Keys& keys, const std::string& path, ModelConfig& c) {
  std::optional<RopeObject> scaling;
  std::optional<double> theta;
  if (keys.given("rope_theta")) theta = keys.positive("rope_theta");
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!keys.given(key)) continue;
    const RopeObject rope =
        read_rope(path + (keys.renamed() ? "" : std::string(": ") + key), keys.value(key), keys.names());
    if (scaling && !scaling->same_scaling(rope))
      keys.fail("rope_scaling and rope_parameters disagree, keep one");
    scaling = rope;
    if (theta && rope.theta && *theta != *rope.theta)
      keys.fail("rope_theta is given twice with different values");
    if (rope.theta) theta = rope.theta;
  }
  if (!theta)
    keys.fail(keys.name("rope_theta") + " is missing" +
              (keys.renamed() ? "" : " (neither rope_theta nor rope_parameters.rope_theta)"));
  if (*theta <= 1) keys.fail("rope_theta", "must be above 1");
  c.rope_theta = *theta;
  if (!scaling) return;
  c.rope_scaling = scaling->scaling;
  c.llama3_rope = scaling->llama3;
}

/// Returns the first of the architectures. A model that AutoModel has loaded is saved with the name of the
/// class without a head, and its files are those of the whole one except for the head.
std::string read_architecture(const Keys& keys) {
  const std::string type = keys.text("model_type");
  const json& list = keys.require("architectures");
  const json first = list.is_array() && !list.empty() ? list[0] : json();
  if (type == "qwen3") {
    if (first != kQwen3Architecture && first != "Qwen3Model")
      keys.fail("architectures", "must be Qwen3ForCausalLM or Qwen3Model for the model_type qwen3");
    return kQwen3Architecture;
  } else if (type == "generanno") {
    if (first != kAnnotatorArchitecture)
      keys.fail("architectures",
                "must be GenerannoForTokenClassification for the model_type generanno: only models that "
                "annotate are supported");
    return kAnnotatorArchitecture;
  } else if (type != "llama") {
    keys.fail("model_type", "only llama, qwen3 and generanno are supported");
  } else if (first == "LlamaModel") {
    return kLlamaArchitecture;
  } else if (first != kLlamaArchitecture && first != "CarbonForCausalLM" && first != kGeneratorArchitecture &&
             first != kClassifierArchitecture) {
    keys.fail("architectures",
              "must be LlamaForCausalLM, LlamaModel, CarbonForCausalLM, GENERatorForCausalLM or "
              "LlamaForSequenceClassification for the model_type llama");
  }
  return first.get<std::string>();
}

/// Other keys of a Qwen3 about windows, such as sliding_window and max_window_layers, mean nothing without
/// use_sliding_window.
void check_full_attention(const Keys& keys) {
  keys.refuse_unless("use_sliding_window", false, "sliding-window attention is not supported");
  if (!keys.given("layer_types")) return;
  const json& types = keys.value("layer_types");
  if (!types.is_array() ||
      !std::all_of(types.begin(), types.end(), [](const json& type) { return type == "full_attention"; }))
    keys.fail("layer_types", "only full_attention is supported");
}

std::string check_architecture(const Keys& keys) {
  const std::string architecture = read_architecture(keys);
  if (keys.text("hidden_act") != "silu") keys.fail("hidden_act", "only silu is supported");
  keys.refuse_unless("quantization_config", nullptr,
                     "quantized weights are not supported, use the BF16 checkpoint");
  if (architecture == kQwen3Architecture)
    check_full_attention(keys);
  else
    keys.refuse_unless("sliding_window", nullptr, "sliding-window attention is not supported");
  keys.refuse_unless("attention_bias", false, "biases are not supported");
  keys.refuse_unless("mlp_bias", false, "biases are not supported");
  keys.refuse_unless("partial_rotary_factor", 1, "rotating a part of the head is not supported");
  return architecture;
}

void read_sizes(const Keys& keys, ModelConfig& c) {
  c.hidden = keys.integer("hidden_size", 1, kMaxHidden);
  c.layers = keys.integer("num_hidden_layers", 1, kMaxLayers);
  c.heads = keys.integer("num_attention_heads", 1, kMaxHeads);
  c.kv_heads =
      keys.given("num_key_value_heads") ? keys.integer("num_key_value_heads", 1, kMaxHeads) : c.heads;
  c.intermediate = keys.integer("intermediate_size", 1, kMaxIntermediate);
  c.vocab = keys.integer("vocab_size", 1, kMaxVocab);
  c.max_positions = keys.integer("max_position_embeddings", 2, kMaxPositions);
  if (c.heads % c.kv_heads != 0) {
    keys.fail("num_key_value_heads",
              "must divide " + keys.name("num_attention_heads") + " " + std::to_string(c.heads));
  }
  if (keys.given("head_dim")) {
    c.head_dim = keys.integer("head_dim", 1, kMaxHeadDim);
  } else {
    if (c.hidden % c.heads != 0) {
      keys.fail("hidden_size", "is not a multiple of " + keys.name("num_attention_heads") + ", and " +
                                   keys.name("head_dim") + " is missing");
    }
    c.head_dim = c.hidden / c.heads;
    if (c.head_dim > kMaxHeadDim)
      keys.fail("hidden_size", "is too large for " + std::to_string(c.heads) + " heads");
  }
  if (c.head_dim % 2 != 0)
    keys.fail(keys.name("head_dim") + " " + std::to_string(c.head_dim) + " must be even");
}

void refuse_dna_config(const std::string& dir, const Keys& keys, const char* family) {
  if (path_exists(dir + "/dna_config.json"))
    keys.fail("architectures", std::string("has the tokenizer of a ") + family + ", but " + dir +
                                   "/dna_config.json belongs to that of Carbon; remove that file");
}

TokenLayout read_generator_layout(const std::string& dir, const Keys& keys, size_t vocab) {
  refuse_dna_config(dir, keys, "GENERator");
  const TokenLayout layout = generator_layout();
  if (vocab != layout.vocab_size) {
    keys.fail("vocab_size", "must be " + std::to_string(layout.vocab_size) + ", the tokens of a GENERator");
  }
  if (keys.given("bos_token_id")) keys.integer("bos_token_id", layout.begin(), layout.begin());
  check_kmer_tokenizer_files(dir);
  return layout;
}

TokenLayout read_carbon_layout(const std::string& dir, const Keys& config_keys, size_t vocab) {
  TokenLayout layout;
  const std::string path = dir + "/dna_config.json";
  if (!path_exists(path)) {
    if (vocab != kReleasedVocab) {
      config_keys.fail("vocab_size",
                       "without dna_config.json only the released vocabulary of " +
                           std::to_string(kReleasedVocab) + " tokens is known; add " + path +
                           " with the id of <dna>, as docs/model.md (\"Vocabulary\") says",
                       {"'carbon models --skeleton {0}' writes one to fill in", {dir}});
    }
    return layout;
  }
  const json object = read_json_file(path, kMaxConfigBytes);
  const Keys keys(path, object);
  keys.integer("k", kKmerLength, kKmerLength);
  const uint64_t dna_tokens = 3 + kKmerCount;
  if (keys.given("dna_vocab_size")) keys.integer("dna_vocab_size", dna_tokens, kMaxVocab);
  if (keys.given("dna_special_tokens")) {
    // An early tokenizer had a fourth special token before the 6-mers, which shifts the id of every 6-mer.
    const json& list = keys.value("dna_special_tokens");
    const bool three = list.is_array() && list.size() >= 3 && list[0] == "<dna>" && list[1] == "</dna>" &&
                       list[2] == "<oov>";
    const bool no_fourth =
        three &&
        (list.size() == 3 || (list[3].is_string() && list[3].get<std::string>().starts_with("<unused_")));
    if (!no_fourth) keys.fail("dna_special_tokens", "must be <dna>, </dna>, <oov>, in this order");
  }
  const uint64_t first = keys.integer("dna_start_id", 0, kMaxVocab);
  if (first + dna_tokens > vocab) {
    keys.fail("dna_start_id", "leaves no room for " + std::to_string(dna_tokens) +
                                  " DNA tokens in vocab_size " + std::to_string(vocab));
  }
  layout.first = static_cast<uint32_t>(first);
  layout.vocab_size = static_cast<uint32_t>(vocab);
  return layout;
}

/// A checkpoint with a general architecture belongs to the family whose tokenizer files it has. Those of a
/// Carbon need not be there, so they are not asked.
TokenLayout read_layout(const std::string& dir, const Keys& keys, const std::string& architecture,
                        size_t vocab) {
  const bool unknown = (architecture == kLlamaArchitecture || architecture == kClassifierArchitecture) &&
                       vocab != kReleasedVocab && !path_exists(dir + "/dna_config.json");
  const bool generator = architecture == kGeneratorArchitecture || (unknown && names_kmer_tokenizer(dir));
  return generator ? read_generator_layout(dir, keys, vocab) : read_carbon_layout(dir, keys, vocab);
}

/// A label that is a number or a truth value has the text of the file as its name. One that is null has no
/// name, which whoever needs one finds out.
std::optional<std::string> label_text(const json& label) {
  if (label.is_string()) return label.get<std::string>();
  if (label.is_null()) return "";
  if (label.is_primitive()) return label.dump();
  return std::nullopt;
}

/// The labels in the order of their numbers, which are the keys of id2label; none if it is missing.
std::vector<std::string> read_labels(const Keys& keys) {
  std::vector<std::string> labels;
  if (!keys.given("id2label")) return labels;
  const json& object = keys.value("id2label");
  if (!object.is_object() || object.empty() || object.size() > kMaxLabels)
    keys.fail("id2label", "must be an object with the names of 1 to " + std::to_string(kMaxLabels) +
                              " labels by their numbers");
  for (size_t i = 0; i < object.size(); ++i) {
    const auto label = object.find(std::to_string(i));
    const std::optional<std::string> text = label == object.end() ? std::nullopt : label_text(*label);
    if (!text)
      keys.fail("id2label has " + std::to_string(object.size()) + " labels, but " +
                (label == object.end() ? "none" : "neither text nor number") + " for number " +
                std::to_string(i) + "; the keys must be the numbers from 0 to " +
                std::to_string(object.size() - 1) + ", each with a name");
    labels.push_back(*text);
  }
  return labels;
}

ClassifierConfig read_classifier(const Keys& keys) {
  ClassifierConfig classifier{read_labels(keys), ""};
  if (!keys.given("problem_type")) return classifier;
  classifier.problem_type = keys.text("problem_type");
  for (const char* known : kProblemTypes)
    if (classifier.problem_type == known) return classifier;
  keys.fail("problem_type", "must be regression, single_label_classification or multi_label_classification");
}

/// Fails unless a number that may be missing is one of those that are supported.
void allow_only(const Keys& keys, const char* key, std::initializer_list<int64_t> allowed, const char* why) {
  if (!keys.given(key)) return;
  const json& value = keys.value(key);
  const bool good = value.is_number_integer() &&
                    std::find(allowed.begin(), allowed.end(), value.get<int64_t>()) != allowed.end();
  if (!good) keys.fail(key, why);
}

/// What an annotator has beside a Llama, and what it must not have.
void read_annotator(const std::string& dir, const Keys& keys, ModelConfig& c) {
  refuse_dna_config(dir, keys, "GENERanno");
  if (c.rope_scaling.yarn || c.llama3_rope)
    keys.fail("rope_scaling", "only the rope_type default is supported for the model_type generanno");
  if (c.head_dim * c.heads != c.hidden)
    keys.fail(keys.given("head_dim") ? "head_dim" : "hidden_size",
              "must be hidden_size " + std::to_string(c.hidden) + " divided by num_attention_heads " +
                  std::to_string(c.heads));
  allow_only(keys, "pretraining_tp", {1}, "must be 1");
  allow_only(keys, "num_prediction_heads", {AnnotatorConfig::kStrands}, "must be 2: a head for each strand");
  allow_only(keys, "feature_layer", {-1, static_cast<int64_t>(c.layers)},
             "must be -1 or num_hidden_layers: heads read the last state alone");
  allow_only(keys, "k", {kKmerLength},
             "must be 6: models with other tokens are not supported, because the files of their tokenizer "
             "could not be read when this was written");
  if (c.vocab < generator_layout().vocab_size)
    keys.fail("vocab_size", "must be at least " + std::to_string(generator_layout().vocab_size) +
                                ", the single tokens and the 6-mers of a GENERator");
  const std::vector<std::string> labels = read_labels(keys);
  if (!std::equal(labels.begin(), labels.end(), std::begin(AnnotatorConfig::kLabels),
                  std::end(AnnotatorConfig::kLabels)))
    keys.fail("id2label", "must be 0 NON_CODING and 1 CDS");
  check_kmer_tokenizer_files(dir);
  c.tied_head = false;
  c.annotator = AnnotatorConfig{keys.boolean("use_mlp_classifier", false)};
  c.layout = {0, static_cast<uint32_t>(c.vocab), &kGenerannoFamily};
}

/// What a Qwen3 has beside a Llama. transformers has defaults of its own for sizes that it does not give.
void read_qwen3(const std::string& dir, const Keys& keys, ModelConfig& c) {
  refuse_dna_config(dir, keys, "MarinDNA");
  for (const char* size : {"head_dim", "num_key_value_heads"}) keys.require(size);
  c.head_norm = true;
  c.layout.first = 0;
  c.layout.vocab_size = static_cast<uint32_t>(c.vocab);
  c.layout.family = &kMarinFamily;
  c.layout.letters = read_letter_vocabulary(dir + "/tokenizer.json", c.vocab);
}

/// All but the layout of the vocabulary.
void read_settings(const Keys& keys, const std::string& path, ModelConfig& c) {
  read_sizes(keys, c);
  c.rms_eps = static_cast<float>(keys.positive("rms_norm_eps"));
  if (!(c.rms_eps > 0 && c.rms_eps < 1)) keys.fail("rms_norm_eps", "must lie between 0 and 1");
  c.tied_head = keys.boolean("tie_word_embeddings", false);
  read_rotary(keys, path, c);
}

}  // namespace

ModelConfig load_config(const std::string& dir) {
  const std::string path = dir + "/config.json";
  if (!path_exists(path)) {
    throw Error("load_config", dir + ": there is no config.json, so this is not a Hugging Face checkpoint");
  }
  const json object = read_json_file(path, kMaxConfigBytes);
  const Keys keys(path, object);
  ModelConfig c;
  const std::string architecture = check_architecture(keys);
  read_settings(keys, path, c);
  if (architecture == kQwen3Architecture) {
    read_qwen3(dir, keys, c);
    return c;
  }
  if (architecture == kAnnotatorArchitecture) {
    read_annotator(dir, keys, c);
    return c;
  }
  c.layout = read_layout(dir, keys, architecture, c.vocab);
  if (architecture == kClassifierArchitecture) {
    c.classifier = read_classifier(keys);
    c.tied_head = false;
    check_trained_on_kmers(dir);
  }
  return c;
}

void check_trained_on_kmers(const std::string& dir) {
  for (const std::string& path : {dir + "/run_config.json", dir + "/../run_config.json"}) {
    if (!path_exists(path)) continue;
    const json object = read_json_file(path, kMaxConfigBytes);
    if (object.is_object() && object.contains("dna_mode") && object["dna_mode"] == "plain")
      throw Error("load_config",
                  path +
                      ": dna_mode \"plain\" says that this model was trained on bases as plain text, without "
                      "<dna>, which is not supported; train it with dna_mode auto_dna_tags");
  }
}

ModelConfig config_from(const std::string& where, const nlohmann::json& settings, const SettingNames& names) {
  ModelConfig c;
  read_settings(Keys(where, settings, names), where, c);
  return c;
}

ModelConfig with_metadata(ModelConfig config, std::vector<uint32_t> ids) {
  if (ids.size() + 2 > config.max_positions)
    throw Error("metadata",
                "the metadata takes " + std::to_string(ids.size()) +
                    " tokens and leaves no room in the model's context of " +
                    std::to_string(config.max_positions),
                {"correct {--prefix}"});
  config.layout.prefix = std::move(ids);
  return config;
}

}  // namespace carbon
