// GGUF files: the container, hostile ones, and the model in one against the same checkpoint in safetensors.
#include "src/model/gguf.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <functional>

#include "src/model/checkpoint.hpp"
#include "src/model/digest.hpp"
#include "src/model/gguf_model.hpp"
#include "src/model/model_files.hpp"
#include "src/model/model_summary.hpp"
#include "test/unit/gguf_fixture.hpp"

using namespace model_test;
using carbon::Checkpoint;

namespace {

/// The message of opening the file of the test model after one change.
std::string refusal(const std::function<void(TestGguf&)>& change) {
  const TempDir dir;
  TestGguf g = test_gguf();
  change(g);
  write_text(dir.path() / "x.gguf", g.file());
  const std::string message = message_of([&] { Checkpoint opened(dir.str() + "/x.gguf"); });
  // Every message names the file first.
  if (message != "no error") CHECK(message.starts_with(dir.str() + "/x.gguf: "));
  return message;
}

std::string refusal_of_bytes(const std::string& bytes) {
  const TempDir dir;
  write_text(dir.path() / "x.gguf", bytes);
  return message_of([&] { Checkpoint opened(dir.str() + "/x.gguf"); });
}

std::string bytes_of(const carbon::TensorView& view) {
  return {static_cast<const char*>(view.data), view.bytes()};
}

}  // namespace

TEST_CASE("gguf: the tensors are those of the checkpoint") {
  const TempDir dir;
  TestModel().write(dir.path() / "checkpoint");
  const Checkpoint plain((dir.path() / "checkpoint").string());
  for (const uint32_t version : {2u, 3u})
    for (const uint32_t alignment : {1u, 32u, 256u}) {
      TestGguf g = test_gguf();
      g.version = version;
      g.alignment = alignment;
      if (alignment != 32) g.value("general.alignment") = GgufEntry::u32(alignment);
      write_text(dir.path() / "x.gguf", g.file());
      const Checkpoint c(dir.str() + "/x.gguf");
      CHECK(c.all_bf16());
      CHECK(c.id() == "x.gguf");
      CHECK(carbon::config_fingerprint(c.config()) == carbon::config_fingerprint(plain.config()));
      CHECK(c.config().max_positions == plain.config().max_positions);
      for (const carbon::TensorShape& tensor : carbon::architecture(c.config())) {
        CAPTURE(tensor.name);
        const size_t rows = tensor.shape.size() == 1 ? 1 : tensor.shape.front(), cols = tensor.shape.back();
        const std::string expected = bytes_of(plain.tensor(tensor.name, rows, cols));
        CHECK(bytes_of(c.tensor(tensor.name, rows, cols)) ==
              (tensor.shape.size() == 1 ? widened(expected) : expected));
      }
      CHECK(c.sha256() == c.sha256(3));
    }
}

TEST_CASE("gguf: a digest does not depend on the rows of q and k in the file") {
  // All tensors in F32, so that both files hold the same bytes of each.
  TestModel model;
  TestGguf g = test_gguf();
  for (auto& [name, tensor] : model.tensors) tensor.dtype = "F32";
  const TempDir dir;
  model.write(dir.path() / "checkpoint");
  const Checkpoint plain((dir.path() / "checkpoint").string());
  const auto from = [&](const std::string& name, size_t heads) {
    const carbon::TensorInfo* const info = plain.find(name);
    const std::string bytes = pattern(name, info->end - info->begin);
    return heads == 0 ? bytes : moved_rows(bytes, heads, 4);
  };
  const std::vector<std::pair<std::string, std::string>> names = {
      {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
      {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
      {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
      {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"}};
  const auto set = [&](const std::string& name, const std::string& source, size_t heads) {
    g.tensor(name).type = 0;
    g.tensor(name).bytes = from(source, heads);
  };
  set("token_embd.weight", "model.embed_tokens.weight", 0);
  set("output_norm.weight", "model.norm.weight", 0);
  for (const std::string layer : {"0", "1"})
    for (const auto& [ours, theirs] : names)
      set("blk." + layer + "." + ours + ".weight", "model.layers." + layer + "." + theirs + ".weight",
          ours == "attn_q"   ? 2
          : ours == "attn_k" ? 1
                             : 0);
  write_text(dir.path() / "x.gguf", g.file());
  CHECK(Checkpoint(dir.str() + "/x.gguf").sha256() == plain.sha256());
}

TEST_CASE("gguf: Q8_0 blocks and an untied head") {
  TestGguf g = test_gguf();
  GgufTensor head = g.tensor("token_embd.weight");
  head.name = "output.weight";
  g.tensors.push_back(head);
  const TempDir dir;
  write_text(dir.path() / "x.gguf", g.file());
  CHECK(Checkpoint(dir.str() + "/x.gguf").head().data != Checkpoint(dir.str() + "/x.gguf").embedding().data);
  CHECK_FALSE(Checkpoint(dir.str() + "/x.gguf").config().tied_head);
  // Eight numbers are no block of Q8_0, so the widths change to 64: two heads of 32.
  constexpr uint64_t kWidth = 64, kVocab = 4099;
  for (const char* key : {"llama.embedding_length", "llama.feed_forward_length"})
    g.value(key) = GgufEntry::u32(kWidth);
  for (const char* key :
       {"llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count"})
    g.value(key) = GgufEntry::u32(32);
  for (GgufTensor& t : g.tensors) {
    const bool narrow = t.name.ends_with("attn_k.weight") || t.name.ends_with("attn_v.weight");
    const uint64_t rows = t.dims.back() == kVocab ? kVocab : narrow ? 32 : kWidth;
    if (t.dims.size() == 1) {
      t = {t.name, {kWidth}, 0, pattern(t.name, kWidth * 4)};
    } else {
      t = {t.name, {kWidth, rows}, 8, pattern(t.name, rows * kWidth / 32 * 34)};
    }
  }
  write_text(dir.path() / "x.gguf", g.file());
  const Checkpoint c(dir.str() + "/x.gguf");
  CHECK_FALSE(c.all_bf16());
  const carbon::TensorView k = c.tensor("model.layers.1.self_attn.k_proj.weight", 32, kWidth);
  CHECK(k.dtype == carbon::WeightType::q8_0);
  const std::string stored = pattern("blk.1.attn_k.weight", 32 * 68);
  CHECK(moved_rows(bytes_of(k), 1, 32) == stored);
  const carbon::ModelSummary summary = carbon::summarise_model(dir.str() + "/x.gguf");
  CHECK(summary.dtypes == std::vector<std::string>{"Q8_0"});
  CHECK(summary.parameters ==
        2 * kVocab * kWidth + kWidth +
            2 * (2 * kWidth + 2 * kWidth * kWidth + 2 * 32 * kWidth + 3 * kWidth * kWidth));
}

TEST_CASE("gguf: settings that are refused by their name") {
  const auto with = [](const std::string& key, const GgufEntry& entry) {
    return refusal([&](TestGguf& g) { g.value(key) = entry; });
  };
  const auto without = [](const std::string& key) { return refusal([&](TestGguf& g) { g.erase(key); }); };
  CHECK(contains(with("general.architecture", GgufEntry::text("gpt2")),
                 "general.architecture 'gpt2': only 'llama'"));
  CHECK(contains(with("general.architecture", GgufEntry::text("qwen3")),
                 "general.architecture 'qwen3': a MarinDNA is not read from GGUF"));
  CHECK(contains(without("general.architecture"), "general.architecture is missing"));
  CHECK(contains(without("llama.block_count"), "llama.block_count is missing"));
  CHECK(contains(without("llama.rope.freq_base"), "llama.rope.freq_base is missing"));
  CHECK(contains(with("llama.embedding_length", GgufEntry::u32(1u << 30)),
                 "llama.embedding_length 1073741824: must be an integer from 1"));
  CHECK(contains(with("llama.embedding_length", GgufEntry::text("8")), "llama.embedding_length"));
  CHECK(contains(with("llama.attention.head_count", GgufEntry::u32(0)),
                 "llama.attention.head_count 0: must be"));
  CHECK(contains(with("llama.attention.head_count_kv", GgufEntry::u32(3)),
                 "must divide llama.attention.head_count 2"));
  CHECK(contains(with("llama.attention.value_length", GgufEntry::u32(8)),
                 "llama.attention.value_length 8: must be the 4 numbers"));
  CHECK(contains(with("llama.rope.dimension_count", GgufEntry::u32(2)),
                 "llama.rope.dimension_count 2: must be the 4"));
  CHECK(contains(with("llama.rope.freq_base", GgufEntry::f32(0.5f)), "llama.rope.freq_base"));
  CHECK(contains(with("llama.attention.layer_norm_rms_epsilon", GgufEntry::f32(2)),
                 "must lie between 0 and 1"));
  CHECK(contains(with("llama.attention.sliding_window", GgufEntry::u32(512)),
                 "llama.attention.sliding_window 512: not supported"));
  CHECK(
      contains(with("llama.attention.scale", GgufEntry::f32(1)), "key 'llama.attention.scale' is not known"));
  CHECK(contains(with("llama.rope.scaling.type", GgufEntry::text("linear")), "'linear': only none and yarn"));
  CHECK(
      contains(with("llama.rope.scaling.factor", GgufEntry::f32(2)), "llama.rope.scaling.factor 2: without"));
  CHECK(contains(with("llama.vocab_size", GgufEntry::u32(5000)),
                 "llama.vocab_size 5000: but tokenizer.ggml.tokens has 4099"));
  CHECK(contains(with("tokenizer.ggml.tokens", GgufEntry::u32(1)), "must be a list"));
  CHECK(contains(with("general.alignment", GgufEntry::u32(48)),
                 "general.alignment 48: must be a power of two"));
  const auto tokens = [&](const std::function<void(std::vector<std::string>&)>& change) {
    std::vector<std::string> list = dna_tokens();
    change(list);
    return with("tokenizer.ggml.tokens", GgufEntry::texts(list));
  };
  CHECK(contains(tokens([](auto& list) { list[0] = "x"; }), "has no <dna>"));
  CHECK(contains(tokens([](auto& list) { list[9] = "<dna>"; }), "has <dna> twice"));
  CHECK(contains(tokens([](auto& list) { std::swap(list[1], list[2]); }), "must come </dna> and <oov>"));
  CHECK(
      contains(tokens([](auto& list) { list[3] = "<pad_dna>"; }), "is '<pad_dna>' and not the first 6-mer"));
  CHECK(contains(tokens([](auto& list) { list.insert(list.begin(), "x"), list.pop_back(); }),
                 "leaves no room"));
  // Old conversions have plain texts, and a stand-in where a text is already that of another token.
  CHECK(tokens([](auto& list) {
          for (size_t i = 3; i < list.size(); ++i) list[i].resize(6);
          list[2736] = "[PAD2736]";
        }) == "no error");
}

TEST_CASE("gguf: YaRN is that of config.json") {
  TestGguf g = test_gguf();
  g.value("llama.rope.scaling.type") = GgufEntry::text("yarn");
  g.value("llama.rope.scaling.factor") = GgufEntry::f32(4);
  g.value("llama.rope.scaling.original_context_length") = GgufEntry::u32(16);
  TestModel model;
  model.config["rope_scaling"] = {
      {"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 16}};
  const TempDir dir;
  model.write(dir.path() / "checkpoint");
  write_text(dir.path() / "x.gguf", g.file());
  const auto of_file = carbon::load_model_config(dir.str() + "/x.gguf");
  const auto of_checkpoint = carbon::load_model_config(dir.str() + "/checkpoint");
  CHECK(of_file.rope_scaling.yarn);
  CHECK(of_file.rope_scaling == of_checkpoint.rope_scaling);
  CHECK(carbon::rope_inv_freq(of_file) == carbon::rope_inv_freq(of_checkpoint));
  CHECK(contains(refusal([](TestGguf& file) {
                   file.value("llama.rope.scaling.type") = GgufEntry::text("yarn");
                   file.value("llama.rope.scaling.factor") = GgufEntry::f32(4);
                 }),
                 "llama.rope.scaling.original_context_length is missing"));
  CHECK(contains(refusal([&](TestGguf& file) {
                   file = g;
                   file.value("llama.rope.scaling.yarn_attn_factor") = GgufEntry::f32(2);
                 }),
                 "yarn_attn_factor"));
}

TEST_CASE("gguf: tensors that are refused by their name") {
  using Change = std::function<void(TestGguf&)>;
  const auto check = [](const std::string& part, const Change& change) {
    const std::string message = refusal(change);
    CAPTURE(message);
    CAPTURE(part);
    CHECK(contains(message, part));
  };
  check("tensor blk.1.ffn_up.weight [6,8] is missing",
        [](TestGguf& g) { g.erase_tensor("blk.1.ffn_up.weight"); });
  check("has shape [6,9], but the metadata requires [6,8]", [](TestGguf& g) {
    g.tensor("blk.1.ffn_up.weight").dims = {9, 6};
    g.tensor("blk.1.ffn_up.weight").bytes.resize(108);
  });
  check("tensor 'blk.0.attn_q.bias' is not part of the 2-layer Llama",
        [](TestGguf& g) { g.tensor("blk.0.attn_q.bias"); });
  check("tensor 'blk.2.attn_q.weight' is not part", [](TestGguf& g) { g.tensor("blk.2.attn_q.weight"); });
  check("rope_freqs.weight changes the rotary embedding", [](TestGguf& g) { g.tensor("rope_freqs.weight"); });
  check("has type F64, which is not supported; supported are BF16, F16 and F32, and Q8_0", [](TestGguf& g) {
    g.tensor("blk.0.attn_norm.weight").type = 28;
    g.tensor("blk.0.attn_norm.weight").bytes.resize(64);
  });
  check("a row of 8 numbers is not made of whole blocks of Q4_K",
        [](TestGguf& g) { g.tensor("blk.0.ffn_up.weight").type = 12; });
  check("has the unknown type 77", [](TestGguf& g) { g.tensor("blk.0.ffn_up.weight").type = 77; });
  check("tensor 'output_norm.weight' is given twice",
        [](TestGguf& g) { g.tensors.push_back(g.tensor("output_norm.weight")); });
  check("its shape overflows 64 bits", [](TestGguf& g) {
    g.tensor("blk.0.ffn_up.weight").dims = {1ull << 40, 1ull << 40};
  });
  check("has 5 dimensions", [](TestGguf& g) { g.tensor("blk.0.ffn_up.weight").dims = {8, 6, 1, 1, 1}; });
  check("needs", [](TestGguf& g) { g.tensors.back().dims = {1ull << 30}; });
  check("overlap", [](TestGguf& g) {  // the next tensor begins where this one is written to end
    g.tensor("blk.0.ffn_up.weight").dims = {8, 60};
  });
  check("claims", [](TestGguf& g) {
    g.value("x").bytes = raw(uint32_t{1}), g.value("x").type = 8, g.value("x").bytes = raw(uint64_t{1} << 60);
  });
  check("'llama.block_count' is given twice",
        [](TestGguf& g) { g.metadata.emplace_back("llama.block_count", GgufEntry::u32(2)); });
  check("has a value of the unknown type 13", [](TestGguf& g) { g.value("x").type = 13; });
}

TEST_CASE("gguf: other headers, and files that are cut off") {
  const std::string good = test_gguf().file();
  CHECK(refusal_of_bytes(good) == "no error");
  CHECK(contains(refusal_of_bytes(""), "0 bytes long, too short for a GGUF file"));
  CHECK(contains(refusal_of_bytes("GGML" + good.substr(4)), "does not begin with GGUF"));
  CHECK(contains(refusal_of_bytes("GGUF" + raw(1u) + good.substr(8)),
                 "version 1 of GGUF; supported are 2 and 3"));
  CHECK(contains(refusal_of_bytes("GGUF" + raw(3u << 24) + good.substr(8)), "big-endian"));
  CHECK(contains(refusal_of_bytes(good.substr(0, 8) + raw(uint64_t{1} << 50) + good.substr(16)),
                 "claims 1125899906842624 tensors"));
  for (size_t size = 24; size < good.size(); size += good.size() / 60) {
    CAPTURE(size);
    const std::string message = refusal_of_bytes(good.substr(0, size));
    CHECK((contains(message, "past the end of the file") || contains(message, "incomplete download")));
  }
  // Lists in lists, as deep as the file says.
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += raw(uint32_t{9}) + raw(uint64_t{1});
  CHECK(contains(refusal([&](TestGguf& g) { g.value("x") = {9, nested}; }), "nests lists more than 4 deep"));
}

TEST_CASE("gguf: what is no file") {
  const TempDir dir;
  const std::string fifo = dir.str() + "/fifo.gguf";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(contains(message_of([&] { Checkpoint opened(fifo); }), "is not a regular file"));
  fs::create_directories(dir.path() / "folder.gguf");
  CHECK(contains(carbon::model_at(dir.str() + "/folder.gguf").why, "no config.json and no .gguf file"));
  fs::create_symlink(dir.path() / "nowhere", dir.path() / "dangling.gguf");
  CHECK(contains(message_of([&] { Checkpoint opened(dir.str() + "/dangling.gguf"); }), "cannot open"));
}

TEST_CASE("gguf: a model in several files") {
  const TempDir dir;
  TestGguf all = test_gguf();
  write_text(dir.path() / "whole.gguf", all.file());
  const std::string digest = Checkpoint(dir.str() + "/whole.gguf").sha256();
  TestGguf parts[2] = {all, {}};
  parts[0].tensors.assign(all.tensors.begin(), all.tensors.begin() + 7);
  parts[1].tensors.assign(all.tensors.begin() + 7, all.tensors.end());
  for (uint32_t i = 0; i < 2; ++i) {
    parts[i].value("split.no") = GgufEntry::u32(i);
    parts[i].value("split.count") = GgufEntry::u32(2);
  }
  const auto path = [&](const char* number) {
    return dir.path() / (std::string("m-0000") + number + "-of-00002.gguf");
  };
  write_text(path("1"), parts[0].file());
  CHECK(contains(message_of([&] { Checkpoint opened(path("1").string()); }),
                 "this part of the model is missing"));
  write_text(path("2"), parts[0].file());
  CHECK(contains(message_of([&] { Checkpoint opened(path("1").string()); }), "is not part 2 of 2"));
  write_text(path("2"), parts[1].file());
  CHECK(Checkpoint(path("1").string()).sha256() == digest);
  CHECK(Checkpoint(path("2").string()).sha256() == digest);  // any part names the model
  write_text(dir.path() / "m.gguf", parts[0].file());
  CHECK(
      contains(message_of([&] { Checkpoint opened(dir.str() + "/m.gguf"); }), "does not end in -00001-of-"));
  fs::remove(dir.path() / "m.gguf");
  fs::remove(dir.path() / "whole.gguf");
  CHECK(carbon::model_at(dir.str()).path == path("1").string());
  // Without the first part the others cannot be opened, and it is named.
  fs::remove(path("1"));
  for (const std::string& model : {dir.str(), path("2").string()}) {
    CHECK(carbon::model_at(model).path.empty());
    CHECK(contains(carbon::model_at(model).why,
                   "the first part of the model, " + path("1").string() + ", is missing"));
  }
}

TEST_CASE("gguf: mutated files are refused in one line or read") {
  const std::string good = test_gguf().file();
  const size_t header = test_gguf().header().size();
  uint64_t state = 25;
  const auto draw = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  const char* const asked = std::getenv("CARBON_GGUF_MUTATIONS");
  const int count = asked ? std::atoi(asked) : 400;
  const TempDir dir;
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = good;
    // Most of the header is token texts; numbers before and after them get their share.
    const size_t end = draw(3) == 0 ? header : 700;
    for (uint64_t n = 1 + draw(4); n > 0; --n) {
      const size_t at = draw(4) == 0 ? header - 1 - draw(1400) : draw(end);
      const uint64_t kind = draw(5);
      if (kind == 0) bytes[at] = static_cast<char>(draw(256));
      if (kind == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
      if (kind == 2) bytes.replace(at, 8, raw(uint64_t{1} << draw(64)));
      if (kind == 3) bytes.resize(at + draw(bytes.size() - at));
      if (kind == 4) bytes.erase(at, 1 + draw(16));
      if (bytes.size() < header) break;
    }
    write_text(dir.path() / "x.gguf", bytes);
    CAPTURE(i);
    const std::string message = message_of([&] {
      const Checkpoint opened(dir.str() + "/x.gguf");
      (void)opened.sha256();
      (void)carbon::load_text_tokenizer(dir.str() + "/x.gguf");
    });
    CHECK(message != "several lines");
    CHECK(message.size() < 600);
    refused += message != "no error";
  }
  MESSAGE(refused << " of " << count << " refused");
  CHECK(refused > count / 2);
}
