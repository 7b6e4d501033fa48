// Writes GGUF files for tests, from the definition of the format: metadata, a list of tensors, their bytes. A
// test can change every part before it is written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test/unit/model_fixture.hpp"

namespace model_test {

template <class T>
std::string raw(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A text with its length.
inline std::string gguf_text(const std::string& text) {
  return raw(static_cast<uint64_t>(text.size())) + text;
}

/// A value with its type.
struct GgufEntry {
  uint32_t type;
  std::string bytes;

  static GgufEntry u32(uint32_t v) { return {4, raw(v)}; }
  static GgufEntry f32(float v) { return {6, raw(v)}; }
  static GgufEntry boolean(bool v) { return {7, raw(static_cast<uint8_t>(v))}; }
  static GgufEntry text(const std::string& v) { return {8, gguf_text(v)}; }
  static GgufEntry texts(const std::vector<std::string>& list) {
    std::string bytes = raw(uint32_t{8}) + raw(static_cast<uint64_t>(list.size()));
    for (const std::string& v : list) bytes += gguf_text(v);
    return {9, bytes};
  }
  static GgufEntry integers(const std::vector<int32_t>& list) {
    std::string bytes = raw(uint32_t{5}) + raw(static_cast<uint64_t>(list.size()));
    for (const int32_t v : list) bytes += raw(v);
    return {9, bytes};
  }
};

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> dims;  // as in the file: the numbers side by side first
  uint32_t type;
  std::string bytes;
};

/// The test model of model_fixture.hpp as llama.cpp's converter writes it: BF16 matrices, F32 vectors, the
/// rows of q and k moved.
struct TestGguf {
  uint32_t version = 3;
  std::vector<std::pair<std::string, GgufEntry>> metadata;
  std::vector<GgufTensor> tensors;
  uint64_t alignment = 32;

  GgufEntry& value(const std::string& key) {
    for (auto& [name, entry] : metadata)
      if (name == key) return entry;
    return metadata.emplace_back(key, GgufEntry::u32(0)).second;
  }
  void erase(const std::string& key) {
    std::erase_if(metadata, [&](const auto& entry) { return entry.first == key; });
  }
  GgufTensor& tensor(const std::string& name) {
    for (GgufTensor& t : tensors)
      if (t.name == name) return t;
    return tensors.emplace_back(GgufTensor{name, {1}, 0, std::string(4, '\0')});
  }
  void erase_tensor(const std::string& name) {
    std::erase_if(tensors, [&](const GgufTensor& t) { return t.name == name; });
  }

  /// The bytes up to the end of the list of tensors, without padding.
  std::string header() const {
    std::string out = "GGUF" + raw(version) + raw(static_cast<uint64_t>(tensors.size())) +
                      raw(static_cast<uint64_t>(metadata.size()));
    for (const auto& [key, entry] : metadata) out += gguf_text(key) + raw(entry.type) + entry.bytes;
    uint64_t offset = 0;
    for (const GgufTensor& t : tensors) {
      out += gguf_text(t.name) + raw(static_cast<uint32_t>(t.dims.size()));
      for (const uint64_t n : t.dims) out += raw(n);
      out += raw(t.type) + raw(offset);
      offset = padded(offset + t.bytes.size());
    }
    return out;
  }
  std::string file() const {
    std::string out = header();
    out.resize(padded(out.size()));
    const size_t base = out.size();
    for (const GgufTensor& t : tensors) {
      out += t.bytes;
      out.resize(base + padded(out.size() - base));
    }
    return out;
  }

 private:
  uint64_t padded(uint64_t n) const { return (n + alignment - 1) / alignment * alignment; }
};

/// 4,099 texts: the DNA tokens from id 0 on.
inline std::vector<std::string> dna_tokens() {
  std::vector<std::string> tokens = {"<dna>", "</dna>", "<oov>"};
  for (int i = 0; i < 4096; ++i) {
    std::string text;
    for (int place = 5; place >= 0; --place) text += "ATCG"[i >> (2 * place) & 3];
    tokens.push_back(text + "\xEE\x80\x80");
  }
  return tokens;
}

/// The BF16 numbers of a tensor of TestModel as F32.
inline std::string widened(const std::string& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size(); i += 2) out += std::string(2, '\0') + numbers.substr(i, 2);
  return out;
}

/// Rows j and j + d/2 of each head become 2j and 2j + 1.
inline std::string moved_rows(const std::string& rows, size_t heads, size_t head_dim) {
  const size_t row = rows.size() / (heads * head_dim);
  std::string out(rows.size(), '\0');
  for (size_t head = 0; head < heads; ++head)
    for (size_t j = 0; j < head_dim / 2; ++j)
      for (size_t side = 0; side < 2; ++side)
        out.replace((head * head_dim + 2 * j + side) * row, row,
                    rows.substr((head * head_dim + side * head_dim / 2 + j) * row, row));
  return out;
}

inline TestGguf test_gguf() {
  TestGguf g;
  g.value("general.architecture") = GgufEntry::text("llama");
  for (const auto& [key, n] : std::vector<std::pair<const char*, uint32_t>>{{"block_count", 2},
                                                                            {"context_length", 64},
                                                                            {"embedding_length", 8},
                                                                            {"feed_forward_length", 6},
                                                                            {"attention.head_count", 2},
                                                                            {"attention.head_count_kv", 1},
                                                                            {"attention.key_length", 4},
                                                                            {"attention.value_length", 4},
                                                                            {"rope.dimension_count", 4},
                                                                            {"vocab_size", 4099}})
    g.value("llama." + std::string(key)) = GgufEntry::u32(n);
  g.value("llama.rope.freq_base") = GgufEntry::f32(10000);
  g.value("llama.attention.layer_norm_rms_epsilon") = GgufEntry::f32(1e-6f);
  g.value("tokenizer.ggml.model") = GgufEntry::text("hybriddna");
  g.value("tokenizer.ggml.tokens") = GgufEntry::texts(dna_tokens());

  constexpr uint32_t kF32 = 0, kBf16 = 30;
  const auto put = [&](const std::string& name, const std::string& source, std::vector<uint64_t> dims,
                       size_t moved_heads = 0) {
    uint64_t count = 1;
    for (const uint64_t n : dims) count *= n;
    std::string numbers = pattern(source + ".weight", count * 2);
    if (moved_heads > 0) numbers = moved_rows(numbers, moved_heads, 4);
    const bool matrix = dims.size() == 2;
    g.tensors.push_back({name + ".weight", dims, matrix ? kBf16 : kF32, matrix ? numbers : widened(numbers)});
  };
  put("token_embd", "model.embed_tokens", {8, 4099});
  for (const std::string layer : {"0", "1"}) {
    const std::string to = "blk." + layer + ".", from = "model.layers." + layer + ".";
    put(to + "attn_norm", from + "input_layernorm", {8});
    put(to + "attn_q", from + "self_attn.q_proj", {8, 8}, 2);
    put(to + "attn_k", from + "self_attn.k_proj", {8, 4}, 1);
    put(to + "attn_v", from + "self_attn.v_proj", {8, 4});
    put(to + "attn_output", from + "self_attn.o_proj", {8, 8});
    put(to + "ffn_norm", from + "post_attention_layernorm", {8});
    put(to + "ffn_gate", from + "mlp.gate_proj", {8, 6});
    put(to + "ffn_up", from + "mlp.up_proj", {8, 6});
    put(to + "ffn_down", from + "mlp.down_proj", {6, 8});
  }
  put("output_norm", "model.norm", {8});
  return g;
}

}  // namespace model_test
