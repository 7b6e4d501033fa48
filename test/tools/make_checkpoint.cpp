// Writes a Llama, Qwen3 or GENERanno checkpoint whose every weight is a hash of (tensor name, element index):
// a test fixture. hash_checkpoint.py beside it writes the same bytes. Nothing here is trained.
//
// The rule, all of it exact or rounded once per step so that two programs agree:
//   h0 = FNV-1a-64(tensor name) xor (seed * G)       G = 0x9E3779B97F4A7C15, arithmetic modulo 2^64
//   x  = mix(h0 + index * G)                         mix: the finaliser of splitmix64
//   u  = (x >> 40) / 2^23 - 1                        in [-1, 1), exact in binary32
//   w  = offset + scale * u                          product, then sum, each rounded to binary32
// and w is rounded to nearest even into the stored type. The gains keep a random model lively: attention that
// prefers some positions, logits that spread over about two nats.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/tensor.hpp"
#include "src/base/error.hpp"
#include "tokenizer/family.hpp"

namespace {

using carbon::DType;
using carbon::Error;
using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "safetensors stores little-endian numbers");

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
constexpr uint64_t kReleasedVocab = 155776;
constexpr uint64_t kDnaTokens = 4107;       // <dna>, </dna>, <oov>, 4,096 6-mers, 8 unused
constexpr uint64_t kGeneratorVocab = 4128;  // 32 single tokens, 4,096 6-mers
constexpr double kLlama3Low = 1, kLlama3High = 4;

struct Options {
  std::string dir, preset, dtype = "bf16";
  uint64_t hidden = 128, layers = 4, heads = 4, kv_heads = 2, head_dim = 32, intermediate = 384, vocab = 0;
  int64_t dna_start = -1;
  uint64_t max_positions = 0, yarn_original = 0, llama3_original = 8192, shards = 1, seed = 0;
  double rope_theta = 500000, eps = 1e-6, yarn = 0, llama3 = -1;
  bool tied = true, no_metadata = false, eos = false;
  bool mlp_heads = false;  // of an annotator
  uint64_t labels = 0;     // of a classification head; 0: an output matrix
  std::string label_names, problem_type;

  bool generator() const { return preset == "generator"; }
  bool marin() const { return preset == "marin"; }
  bool generanno() const { return preset == "generanno"; }
};

struct Tensor {
  std::string name;
  std::vector<uint64_t> shape;
  float offset, scale;

  uint64_t count() const { return shape.size() == 2 ? shape[0] * shape[1] : shape[0]; }
};

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

uint64_t fnv1a(const std::string& text) {
  uint64_t h = 0xCBF29CE484222325u;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001B3u;
  return h;
}

/// binary16 of `v`, nearest even; |v| is far below the overflow limit.
uint16_t to_half(float v) {
  const uint32_t bits = std::bit_cast<uint32_t>(v);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const float magnitude = std::fabs(v);
  // Below the smallest normal half the spacing is 2^-24: adding 1 * 2^-1 puts that spacing at the end of a
  // binary32.
  if (magnitude < 0x1p-14f) {
    const uint32_t rounded = std::bit_cast<uint32_t>(magnitude + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    return sign | static_cast<uint16_t>(rounded);
  }
  uint32_t u = bits & 0x7fffffffu;
  u += 0xfffu + ((u >> 13) & 1u);
  return sign | static_cast<uint16_t>((u - (112u << 23)) >> 13);
}

std::vector<Tensor> architecture(const Options& o) {
  std::vector<Tensor> tensors;
  auto matrix = [&](const std::string& name, uint64_t out, uint64_t in, double gain) {
    const double scale = gain * std::sqrt(3.0 / static_cast<double>(in));  // variance gain^2 / in
    tensors.push_back({name, {out, in}, 0.0f, static_cast<float>(scale)});
  };
  auto norm = [&](const std::string& name) { tensors.push_back({name, {o.hidden}, 1.0f, 0.1f}); };
  // Queries and keys have unit variance before it.
  auto head_norm = [&](const std::string& name) { tensors.push_back({name, {o.head_dim}, 1.5f, 0.3f}); };

  // A tied head reads the embedding: rows of standard deviation 2 / sqrt(hidden) give logits of about two
  // nats and keep the token itself from winning every prediction. An untied embedding has unit variance.
  const double embedding_gain = o.tied ? 2.0 : std::sqrt(static_cast<double>(o.hidden));
  matrix("model.embed_tokens.weight", o.vocab, o.hidden, embedding_gain);
  for (uint64_t i = 0; i < o.layers; ++i) {
    const std::string p = "model.layers." + std::to_string(i) + ".";
    norm(p + "input_layernorm.weight");
    matrix(p + "self_attn.q_proj.weight", o.heads * o.head_dim, o.hidden, 1.5);
    matrix(p + "self_attn.k_proj.weight", o.kv_heads * o.head_dim, o.hidden, 1.5);
    matrix(p + "self_attn.v_proj.weight", o.kv_heads * o.head_dim, o.hidden, 1.5);
    if (o.marin()) head_norm(p + "self_attn.q_norm.weight");
    if (o.marin()) head_norm(p + "self_attn.k_norm.weight");
    matrix(p + "self_attn.o_proj.weight", o.hidden, o.heads * o.head_dim, 1.5);
    norm(p + "post_attention_layernorm.weight");
    matrix(p + "mlp.gate_proj.weight", o.intermediate, o.hidden, 1.5);
    matrix(p + "mlp.up_proj.weight", o.intermediate, o.hidden, 1.0);
    matrix(p + "mlp.down_proj.weight", o.hidden, o.intermediate, 1.0);
  }
  norm("model.norm.weight");
  for (uint64_t strand = 0; o.generanno() && strand < 2; ++strand) {
    const std::string p = "score." + std::to_string(strand) + ".";
    if (!o.mlp_heads) {
      matrix(p + "weight", 12, o.hidden, 2.0);
      continue;
    }
    matrix(p + "0.weight", o.hidden, o.hidden, 1.5);
    tensors.push_back({p + "0.bias", {o.hidden}, 0.0f, 0.5f});
    matrix(p + "3.weight", 12, o.hidden, 3.0);
  }
  if (o.generanno()) return tensors;
  if (o.labels > 0)
    matrix("score.weight", o.labels, o.hidden, 1.0);
  else if (!o.tied)
    matrix("lm_head.weight", o.vocab, o.hidden, 2.0);
  return tensors;
}

void check(bool ok, const std::string& what) {
  if (!ok) throw Error("make_checkpoint", what);
}

/// The tokens of a MarinDNA in the order of their ids.
std::vector<std::string> letter_tokens(const Options& o) {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[BOS]"};
  if (o.eos) tokens.emplace_back("[EOS]");
  for (const char* letter : {"a", "c", "g", "t"}) tokens.emplace_back(letter);
  return tokens;
}

void complete(Options& o) {
  if (o.preset == "demo" && o.dna_start < 0) o.dna_start = 0;
  if (o.generator()) {
    check(o.dna_start < 0, "--dna-start is an option of Carbon's tokenizer");
    if (o.vocab == 0) o.vocab = kGeneratorVocab;
  }
  if (o.generanno()) {
    check(o.dna_start < 0 && o.labels == 0, "--dna-start and --labels do not go with --preset generanno");
    o.tied = false;
    if (o.vocab == 0) o.vocab = kGeneratorVocab;
    if (o.label_names.empty()) o.label_names = "NON_CODING,CDS";
  }
  if (o.marin()) {
    check(o.dna_start < 0, "--dna-start is an option of Carbon's tokenizer");
    check(o.labels == 0, "--labels and --preset marin do not go together");
    if (o.vocab == 0) o.vocab = letter_tokens(o).size();
  }
  if (o.max_positions == 0) o.max_positions = o.marin() ? 256 : 8192;
  if (o.llama3 < 0) o.llama3 = o.marin() && o.yarn == 0 ? 8 : 0;
  if (o.vocab == 0) {
    o.vocab = o.dna_start < 0 ? kReleasedVocab
                              : (static_cast<uint64_t>(o.dna_start) + kDnaTokens + 127) / 128 * 128;
  }
  for (uint64_t v :
       {o.hidden, o.layers, o.heads, o.kv_heads, o.head_dim, o.intermediate, o.vocab, o.shards}) {
    check(v > 0 && v <= (uint64_t{1} << 24), "a size is zero or above 2^24");
  }
  check(o.dna_start < (int64_t{1} << 24), "--dna-start is above 2^24");
  check(o.labels <= (uint64_t{1} << 24), "--labels is above 2^24");
  check(o.shards <= architecture(o).size(), "more shards than tensors");
}

json config(const Options& o) {
  json c;
  const char* causal = o.generator()   ? "GENERatorForCausalLM"
                       : o.marin()     ? "Qwen3ForCausalLM"
                       : o.generanno() ? "GenerannoForTokenClassification"
                                       : "LlamaForCausalLM";
  c["architectures"] = {o.labels > 0 ? "LlamaForSequenceClassification" : causal};
  c["attention_bias"] = false;
  c["attention_dropout"] = 0.0;
  c["bos_token_id"] = o.generator() ? json(1) : json();
  c["eos_token_id"] = o.generator() ? json(2) : json();
  // The released GENERators leave it to the reader to divide.
  if (!o.generator() || o.hidden != o.heads * o.head_dim) c["head_dim"] = o.head_dim;
  c["hidden_act"] = "silu";
  c["hidden_size"] = o.hidden;
  c["initializer_range"] = 0.02;
  c["intermediate_size"] = o.intermediate;
  if (o.marin()) c["layer_types"] = std::vector<std::string>(o.layers, "full_attention");
  c["max_position_embeddings"] = o.max_positions;
  if (o.marin()) {
    c["max_window_layers"] = o.layers;
    c["model_type"] = "qwen3";
    c["no_bias"] = true;
  } else {
    c["mlp_bias"] = false;
    c["model_type"] = o.generanno() ? "generanno" : "llama";
  }
  if (o.generanno()) {
    c["feature_layer"] = -1;
    c["k"] = 6;
    c["mask_token_id"] = 4;
    c["num_prediction_heads"] = 2;
    c["use_mlp_classifier"] = o.mlp_heads;
  }
  c["num_attention_heads"] = o.heads;
  c["num_hidden_layers"] = o.layers;
  c["num_key_value_heads"] = o.kv_heads;
  if (!o.marin()) c["pretraining_tp"] = 1;
  c["rms_norm_eps"] = o.eps;
  c["rope_scaling"] = nullptr;
  if (o.yarn > 0) {
    const double original = std::floor(static_cast<double>(o.max_positions) / o.yarn + 0.5);
    json scaling;
    scaling["rope_type"] = "yarn";
    scaling["factor"] = o.yarn;
    scaling["original_max_position_embeddings"] =
        o.yarn_original ? o.yarn_original : static_cast<uint64_t>(original);
    c["rope_scaling"] = scaling;
  }
  if (o.llama3 > 0) {
    json scaling;
    scaling["rope_type"] = "llama3";
    scaling["factor"] = o.llama3;
    scaling["low_freq_factor"] = kLlama3Low;
    scaling["high_freq_factor"] = kLlama3High;
    scaling["original_max_position_embeddings"] = o.llama3_original;
    c["rope_scaling"] = scaling;
  }
  c["rope_theta"] = o.rope_theta;
  if (o.marin()) c["sliding_window"] = 4096;
  c["tie_word_embeddings"] = o.tied;
  c["torch_dtype"] = o.dtype == "bf16" ? "bfloat16" : o.dtype == "f16" ? "float16" : "float32";
  c["use_cache"] = true;
  if (o.marin()) c["use_sliding_window"] = false;
  c["vocab_size"] = o.vocab;
  if (!o.label_names.empty()) {
    json names = json::object();
    std::istringstream in(o.label_names);
    for (std::string name; std::getline(in, name, ',');) names[std::to_string(names.size())] = name;
    c["id2label"] = names;
  }
  if (!o.problem_type.empty()) c["problem_type"] = o.problem_type;
  return c;
}

json dna_config(const Options& o) {
  json c;
  c["k"] = 6;
  c["dna_start_id"] = o.dna_start;
  c["dna_vocab_size"] = kDnaTokens;
  c["dna_special_tokens"] = {"<dna>", "</dna>", "<oov>"};
  c["auto_dna_tags"] = false;
  return c;
}

json tokenizer_config() {
  json c;
  c["add_bos_token"] = true;
  c["add_eos_token"] = false;
  c["bos_token"] = "<s>";
  c["eos_token"] = "</s>";
  c["k"] = 6;
  c["mask_token"] = "<mask>";
  c["pad_token"] = "<pad>";
  c["tokenizer_class"] = "DNAKmerTokenizer";
  c["unk_token"] = "<oov>";
  return c;
}

/// tokenizer.json of a MarinDNA, as the `tokenizers` library writes it.
json letter_tokenizer(const Options& o) {
  const std::vector<std::string> tokens = letter_tokens(o);
  json c, added = json::array(), around = json::object(), vocabulary = json::object();
  json single = json::array(), pair = json::array();
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string& token = tokens[id];
    vocabulary[token] = id;
    if (token.size() == 1) continue;
    json entry;
    entry["id"] = id;
    entry["content"] = token;
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) entry[flag] = false;
    entry["special"] = true;
    added.push_back(entry);
  }
  const auto piece = [](const char* kind, const char* id, int type) {
    json one;
    one[kind]["id"] = id;
    one[kind]["type_id"] = type;
    return one;
  };
  const auto surround = [&](const char* token) {
    json one;
    one["id"] = token;
    one["ids"] = {vocabulary[token]};
    one["tokens"] = {token};
    around[token] = one;
  };
  surround("[BOS]");
  if (o.eos) surround("[EOS]");
  single = {piece("SpecialToken", "[BOS]", 0), piece("Sequence", "A", 0)};
  if (o.eos) single.push_back(piece("SpecialToken", "[EOS]", 0));
  pair = {piece("Sequence", "A", 0), piece("Sequence", "B", 1)};
  c["version"] = "1.0";
  c["truncation"] = nullptr;
  c["padding"] = nullptr;
  c["added_tokens"] = added;
  c["normalizer"]["type"] = "Lowercase";
  c["pre_tokenizer"]["type"] = "Split";
  c["pre_tokenizer"]["pattern"]["Regex"] = ".{1}";
  c["pre_tokenizer"]["behavior"] = "Isolated";
  c["pre_tokenizer"]["invert"] = false;
  c["post_processor"]["type"] = "TemplateProcessing";
  c["post_processor"]["single"] = single;
  c["post_processor"]["pair"] = pair;
  c["post_processor"]["special_tokens"] = around;
  c["decoder"]["type"] = "Fuse";
  c["model"]["type"] = "WordLevel";
  c["model"]["vocab"] = vocabulary;
  c["model"]["unk_token"] = "[UNK]";
  return c;
}

/// A line for each token: its text, a space, its id.
void write_vocabulary(const fs::path& path) {
  std::ofstream out(path, std::ios::binary);
  size_t id = 0;
  for (const std::string_view token : carbon::kGeneratorTokens) out << token << ' ' << id++ << '\n';
  for (uint32_t kmer = 0; kmer < 4096; ++kmer) {
    for (int place = 5; place >= 0; --place) out << "ATCG"[kmer >> 2 * place & 3];
    out << ' ' << id++ << '\n';
  }
  out.close();
  check(!out.fail(), "cannot write " + path.string());
}

void write_json(const fs::path& path, const json& value) {
  std::ofstream out(path, std::ios::binary);
  out << value.dump(2) << '\n';
  out.close();
  check(!out.fail(), "cannot write " + path.string());
}

void write_values(std::ostream& out, const Tensor& t, const Options& o) {
  constexpr uint64_t kBlock = 1 << 16;
  const uint64_t h0 = fnv1a(t.name) ^ (o.seed * kGolden);
  const DType dtype = o.dtype == "bf16" ? DType::bf16 : o.dtype == "f16" ? DType::f16 : DType::f32;
  std::vector<char> block(kBlock * 4);
  for (uint64_t first = 0; first < t.count(); first += kBlock) {
    const uint64_t n = std::min(kBlock, t.count() - first);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t x = mix(h0 + (first + i) * kGolden);
      const float u = static_cast<float>(x >> 40) * 0x1p-23f - 1.0f;
      const float product = t.scale * u;
      const float w = t.offset + product;
      if (dtype == DType::f32) {
        std::memcpy(&block[i * 4], &w, 4);
      } else {
        const uint16_t bits = dtype == DType::bf16 ? carbon::to_bf16(w).bits : to_half(w);
        std::memcpy(&block[i * 2], &bits, 2);
      }
    }
    out.write(block.data(), static_cast<std::streamsize>(n * carbon::dtype_size(dtype)));
  }
}

/// One safetensors file with the tensors [first, last). It appears under its name only when complete.
void write_safetensors(const fs::path& path, const std::vector<Tensor>& tensors, size_t first, size_t last,
                       const Options& o) {
  json header = json::object();
  if (!o.no_metadata) header["__metadata__"] = {{"format", "pt"}};
  uint64_t at = 0;
  for (size_t i = first; i < last; ++i) {
    const uint64_t end = at + tensors[i].count() * (o.dtype == "f32" ? 4 : 2);
    json entry;
    entry["dtype"] = o.dtype == "bf16" ? "BF16" : o.dtype == "f16" ? "F16" : "F32";
    entry["shape"] = tensors[i].shape;
    entry["data_offsets"] = {at, end};
    header[tensors[i].name] = entry;
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();

  fs::path temporary = path;
  temporary += ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), 8);
  out << text;
  for (size_t i = first; i < last; ++i) write_values(out, tensors[i], o);
  out.close();
  check(!out.fail(), "cannot write " + temporary.string());
  fs::rename(temporary, path);
}

void write_checkpoint(const Options& o) {
  const fs::path dir = o.dir;
  fs::create_directories(dir);
  for (const char* stale : {"dna_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt",
                            "model.safetensors", "model.safetensors.index.json"}) {
    fs::remove(dir / stale);
  }
  write_json(dir / "config.json", config(o));
  if (o.dna_start >= 0) write_json(dir / "dna_config.json", dna_config(o));
  if (o.generator() || o.generanno()) {
    write_json(dir / "tokenizer_config.json", tokenizer_config());
    write_vocabulary(dir / "vocab.txt");
  }
  if (o.marin()) write_json(dir / "tokenizer.json", letter_tokenizer(o));

  const std::vector<Tensor> tensors = architecture(o);
  if (o.shards == 1) {
    write_safetensors(dir / "model.safetensors", tensors, 0, tensors.size(), o);
    return;
  }
  uint64_t total = 0;
  for (const Tensor& t : tensors) total += t.count() * (o.dtype == "f32" ? 4 : 2);
  std::map<std::string, std::string> weight_map;
  for (uint64_t shard = 0; shard < o.shards; ++shard) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05d-of-%05d.safetensors", static_cast<int>(shard + 1),
                  static_cast<int>(o.shards));
    const size_t first = tensors.size() * shard / o.shards;
    const size_t last = tensors.size() * (shard + 1) / o.shards;
    write_safetensors(dir / name, tensors, first, last, o);
    for (size_t i = first; i < last; ++i) weight_map[tensors[i].name] = name;
  }
  json index;
  index["metadata"] = {{"total_size", total}};
  index["weight_map"] = weight_map;
  write_json(dir / "model.safetensors.index.json", index);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Write a checkpoint whose weights are hashes of their names"};
  app.option_defaults()->take_last();
  app.add_option("DIR", o.dir)->required();
  app.add_option("--preset", o.preset,
                 "demo: a DNA-only vocabulary; generator: a GENERator; marin: a MarinDNA, of one base a "
                 "token; generanno: "
                 "an annotator with 6-mers")
      ->check(CLI::IsMember({"demo", "generator", "marin", "generanno"}));
  app.add_option("--hidden", o.hidden);
  app.add_option("--layers", o.layers);
  app.add_option("--heads", o.heads);
  app.add_option("--kv-heads", o.kv_heads);
  app.add_option("--head-dim", o.head_dim);
  app.add_option("--intermediate", o.intermediate);
  app.add_option("--vocab", o.vocab, "default 155776, or the DNA tokens rounded up to 128");
  app.add_option("--dna-start", o.dna_start, "writes dna_config.json; without it the released layout");
  app.add_option("--max-positions", o.max_positions, "default 8192, or 256 for marin");
  app.add_option("--rope-theta", o.rope_theta);
  app.add_option("--eps", o.eps);
  app.add_option("--tied", o.tied);
  app.add_option("--dtype", o.dtype)->check(CLI::IsMember({"bf16", "f32", "f16"}));
  app.add_option("--shards", o.shards);
  app.add_option("--yarn", o.yarn, "YaRN factor");
  app.add_option("--yarn-original", o.yarn_original, "default: max-positions / factor");
  app.add_option("--llama3", o.llama3, "factor of the rope_type llama3, 0 for none; default 8 for marin");
  app.add_option("--llama3-original", o.llama3_original, "its original_max_position_embeddings");
  app.add_option("--eos", o.eos, "1: the tokenizer of marin has [EOS]");
  app.add_option("--no-metadata", o.no_metadata, "1: no __metadata__ in the safetensors header");
  app.add_option("--labels", o.labels,
                 "a classification head with so many labels instead of the output matrix");
  app.add_option("--label-names", o.label_names, "their names, with commas");
  app.add_option("--problem-type", o.problem_type, "what config.json says of their values");
  app.add_option("--mlp-heads", o.mlp_heads, "1: the heads of generanno have a hidden layer");
  app.add_option("--seed", o.seed);
  CLI11_PARSE(app, argc, argv);
  try {
    complete(o);
    write_checkpoint(o);
  } catch (const std::exception& e) {
    std::cerr << "[E::make_checkpoint] " << e.what() << '\n';
    return 1;
  }
  return 0;
}
