// Small temporary checkpoints for the tests of src/model. A test can change every part before it is written.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.hpp"

namespace model_test {

using json = nlohmann::json;
namespace fs = std::filesystem;

/// A directory under the system's temporary folder, removed at the end of the scope.
class TempDir {
 public:
  TempDir() {
    std::string name = (fs::temp_directory_path() / "carbon-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const fs::path& path() const { return path_; }
  std::string str() const { return path_.string(); }

 private:
  fs::path path_;
};

/// Sets an environment variable (or unsets it with nullopt), and restores the old value at the end.
class Environment {
 public:
  Environment(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~Environment() { set(old_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

inline void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

struct TestTensor {
  std::string dtype;
  std::vector<uint64_t> shape;
  std::string like = {};  // the tensor whose bytes it has; empty: its own

  uint64_t bytes() const {
    uint64_t n = dtype == "F32" ? 4 : dtype == "F64" ? 8 : 2;
    for (uint64_t d : shape) n *= d;
    return n;
  }
};

using TestTensors = std::map<std::string, TestTensor>;

/// The bytes of a tensor: a pattern that depends on the name and the offset.
inline std::string pattern(const std::string& name, uint64_t bytes) {
  std::string out(bytes, '\0');
  unsigned seed = 1;
  for (char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  for (uint64_t i = 0; i < bytes; ++i) out[i] = static_cast<char>((seed + i * 7) % 61);
  return out;
}

/// Writes a file from a header and a body without any check.
inline void write_raw_safetensors(const fs::path& path, const std::string& header, const std::string& body) {
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  write_text(path, length + header + body);
}

inline void write_safetensors(const fs::path& path, const TestTensors& tensors) {
  json header = json::object();
  std::string body;
  for (const auto& [name, t] : tensors) {
    const uint64_t begin = body.size();
    body += pattern(t.like.empty() ? name : t.like, t.bytes());
    header[name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {begin, body.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  write_raw_safetensors(path, text, body);
}

/// hidden 8, 2 layers, 2 heads on 1 kv head of 4, ff 6, and a DNA-only vocabulary of 4,099.
struct TestModel {
  json config = {{"architectures", {"LlamaForCausalLM"}},
                 {"model_type", "llama"},
                 {"hidden_act", "silu"},
                 {"hidden_size", 8},
                 {"num_hidden_layers", 2},
                 {"num_attention_heads", 2},
                 {"num_key_value_heads", 1},
                 {"head_dim", 4},
                 {"intermediate_size", 6},
                 {"vocab_size", 4099},
                 {"max_position_embeddings", 64},
                 {"rms_norm_eps", 1e-6},
                 {"rope_theta", 10000.0},
                 {"tie_word_embeddings", true}};
  json dna_config = {{"k", 6}, {"dna_start_id", 0}};
  json tokenizer = nullptr;  // tokenizer.json, if it is not null
  TestTensors tensors;

  TestModel() {
    tensors["model.embed_tokens.weight"] = {"BF16", {4099, 8}};
    tensors["model.norm.weight"] = {"BF16", {8}};
    for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
      tensors[layer + "input_layernorm.weight"] = {"BF16", {8}};
      tensors[layer + "self_attn.q_proj.weight"] = {"BF16", {8, 8}};
      tensors[layer + "self_attn.k_proj.weight"] = {"BF16", {4, 8}};
      tensors[layer + "self_attn.v_proj.weight"] = {"BF16", {4, 8}};
      tensors[layer + "self_attn.o_proj.weight"] = {"BF16", {8, 8}};
      tensors[layer + "post_attention_layernorm.weight"] = {"BF16", {8}};
      tensors[layer + "mlp.gate_proj.weight"] = {"BF16", {6, 8}};
      tensors[layer + "mlp.up_proj.weight"] = {"BF16", {6, 8}};
      tensors[layer + "mlp.down_proj.weight"] = {"BF16", {8, 6}};
    }
  }

  void write_configs(const fs::path& dir) const {
    write_text(dir / "config.json", config.dump());
    if (!dna_config.is_null()) write_text(dir / "dna_config.json", dna_config.dump());
    if (!tokenizer.is_null()) write_text(dir / "tokenizer.json", tokenizer.dump());
  }
  void write(const fs::path& dir) const {
    write_configs(dir);
    write_safetensors(dir / "model.safetensors", tensors);
  }
  /// Two shards, to which tensors are assigned in turn, with their index. Returns the index so that a test
  /// can change and rewrite it.
  json write_sharded(const fs::path& dir) const {
    write_configs(dir);
    TestTensors shards[2];
    json map = json::object();
    size_t i = 0;
    for (const auto& [name, t] : tensors) {
      const size_t shard = i++ % 2;
      shards[shard][name] = t;
      map[name] = "model-0000" + std::to_string(shard + 1) + "-of-00002.safetensors";
    }
    write_safetensors(dir / "model-00001-of-00002.safetensors", shards[0]);
    write_safetensors(dir / "model-00002-of-00002.safetensors", shards[1]);
    const json index = {{"metadata", {{"total_size", 1}}}, {"weight_map", map}};
    write_text(dir / "model.safetensors.index.json", index.dump());
    return index;
  }
};

/// tokenizer.json of a MarinDNA, as the `tokenizers` library writes it.
inline json letter_tokenizer() {
  const json begin = {{"SpecialToken", {{"id", "[BOS]"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  return {
      {"version", "1.0"},
      {"added_tokens", json::array({{{"id", 0}, {"content", "[PAD]"}, {"special", true}},
                                    {{"id", 2}, {"content", "[BOS]"}, {"special", true}}})},
      {"normalizer", {{"type", "Lowercase"}}},
      {"pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"Regex", ".{1}"}}}, {"behavior", "Isolated"}, {"invert", false}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", json::array({begin, text})},
        {"special_tokens", {{"[BOS]", {{"id", "[BOS]"}, {"ids", json::array({2})}}}}}}},
      {"model",
       {{"type", "WordLevel"},
        {"vocab", {{"[PAD]", 0}, {"[UNK]", 1}, {"[BOS]", 2}, {"a", 3}, {"c", 4}, {"g", 5}, {"t", 6}}},
        {"unk_token", "[UNK]"}}}};
}

/// The same as a Qwen3 of one base a token: 7 tokens, norms of heads, and the frequencies of Llama 3.
struct LetterModel : TestModel {
  LetterModel() {
    config["architectures"] = {"Qwen3ForCausalLM"};
    config["model_type"] = "qwen3";
    config["vocab_size"] = 7;
    config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 8192}};
    dna_config = nullptr;
    tokenizer = letter_tokenizer();
    tensors["model.embed_tokens.weight"] = {"BF16", {7, 8}};
    for (const std::string layer : {"model.layers.0.", "model.layers.1."})
      for (const std::string norm : {"self_attn.q_norm.weight", "self_attn.k_norm.weight"})
        tensors[layer + norm] = {"BF16", {4}};
  }
};

/// The message of the carbon::Error that `action` throws; "no error" if it throws none. A message of several
/// lines comes back as "several lines", so that no test accepts one.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const carbon::Error& e) {
    const std::string text = e.what();
    return text.find('\n') == std::string::npos ? text : "several lines";
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace model_test
