// Checkpoint directories: tensors against the config, shards against their index, and the digest.
#include "src/model/checkpoint.hpp"

#include <doctest/doctest.h>

#include <chrono>

#include "src/model/digest.hpp"
#include "test/unit/model_fixture.hpp"
#include "test/unit/test_log.hpp"

using namespace model_test;
using carbon::Checkpoint;

namespace {

std::string refusal(const TestModel& model) {
  const TempDir dir;
  model.write(dir.path());
  return message_of([&] { Checkpoint opened(dir.str()); });
}

/// Makes every file of a directory look old enough to be remembered.
void settle(const fs::path& dir) {
  for (const auto& entry : fs::directory_iterator(dir)) {
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
}

void check_values(const Checkpoint& c, const std::string& name, size_t rows, size_t cols) {
  const carbon::TensorView view = c.tensor(name, rows, cols);
  CHECK(view.rows == rows);
  CHECK(view.cols == cols);
  CHECK(std::string(static_cast<const char*>(view.data), view.bytes()) == pattern(name, view.bytes()));
}

}  // namespace

TEST_CASE("checkpoint: tensors of a single file") {
  const TempDir dir;
  TestModel().write(dir.path());
  const Checkpoint c(dir.str());
  check_values(c, "model.embed_tokens.weight", 4099, 8);
  check_values(c, "model.layers.1.mlp.down_proj.weight", 8, 6);
  check_values(c, "model.norm.weight", 1, 8);
  CHECK(c.head().data == c.embedding().data);
  CHECK(c.all_bf16());
  CHECK(c.has("model.norm.weight"));
  CHECK_FALSE(c.has("lm_head.weight"));
  CHECK(contains(message_of([&] { c.tensor("model.norm.weight", 1, 9); }), "has shape [8], not [1,9]"));
  CHECK(contains(message_of([&] { c.tensor("no", 1, 9); }), "missing"));
}

TEST_CASE("checkpoint: an untied head") {
  TestModel model;
  model.config["tie_word_embeddings"] = false;
  model.tensors["lm_head.weight"] = {"BF16", {4099, 8}};
  {
    const TempDir dir;
    model.write(dir.path());
    const Checkpoint untied(dir.str());
    CHECK(untied.head().data != untied.embedding().data);
    check_values(untied, "lm_head.weight", 4099, 8);
  }
  model.tensors.erase("lm_head.weight");
  CHECK(contains(refusal(model), "lm_head.weight [4099,8] is missing"));
  model.tensors.erase("model.embed_tokens.weight");
  model.tensors["lm_head.weight"] = {"BF16", {4099, 8}};
  CHECK(contains(refusal(model), "model.embed_tokens.weight [4099,8] is missing"));
}

TEST_CASE("checkpoint: a tied head with one or two matrices") {
  const std::string embedding = "model.embed_tokens.weight";
  TestModel model;
  const auto opened = [](const TestModel& m, const auto& check) {
    const TempDir dir;
    m.write(dir.path());
    carbon::test::TestLog log;
    const Checkpoint c(dir.str(), std::nullopt, log);
    check(c, log);
  };
  std::string digest;
  opened(model, [&](const Checkpoint& c, const carbon::test::TestLog&) { digest = c.sha256(); });

  SUBCASE("equal ones are one") {
    model.tensors["lm_head.weight"] = {"BF16", {4099, 8}, embedding};
    opened(model, [&](const Checkpoint& c, const carbon::test::TestLog& log) {
      CHECK(c.head().data == c.embedding().data);
      CHECK(c.config().tied_head);
      CHECK(c.sha256() == digest);
      CHECK(log.lines().empty());
    });
  }
  SUBCASE("the head alone is both") {
    model.tensors["lm_head.weight"] = {"BF16", {4099, 8}, embedding};
    model.tensors.erase(embedding);
    opened(model, [&](const Checkpoint& c, const carbon::test::TestLog& log) {
      CHECK(c.head().data == c.embedding().data);
      CHECK(c.sha256() == digest);
      CHECK(log.lines().empty());
    });
    const TempDir dir;
    model.write_sharded(dir.path());
    CHECK(Checkpoint(dir.str()).sha256() == digest);
  }
  SUBCASE("another head is used, with a warning") {
    model.tensors["lm_head.weight"] = {"BF16", {4099, 8}};
    opened(model, [&](const Checkpoint& c, const carbon::test::TestLog& log) {
      CHECK_FALSE(c.config().tied_head);
      check_values(c, "lm_head.weight", 4099, 8);
      CHECK(c.head().data == c.tensor("lm_head.weight", 4099, 8).data);
      CHECK(log.has("lm_head.weight holds other numbers"));
      CHECK(c.sha256() != digest);
      digest = c.sha256();
    });
    TestModel untied = model;
    untied.config["tie_word_embeddings"] = false;
    opened(untied, [&](const Checkpoint& c, const carbon::test::TestLog&) { CHECK(c.sha256() == digest); });
    // Also if the index does not name it.
    const TempDir dir;
    json index = model.write_sharded(dir.path());
    index["weight_map"].erase("lm_head.weight");
    write_text(dir.path() / "model.safetensors.index.json", index.dump());
    CHECK(Checkpoint(dir.str()).sha256() == digest);
  }
  SUBCASE("a head of another type is compared by its numbers") {
    model.tensors["lm_head.weight"] = {"F32", {4099, 8}};
    opened(model,
           [&](const Checkpoint& c, const carbon::test::TestLog&) { CHECK_FALSE(c.config().tied_head); });
  }
  SUBCASE("a head that cannot be compared is refused") {
    model.tensors["lm_head.weight"] = {"BF16", {4099, 4}};
    CHECK(contains(refusal(model), "lm_head.weight has shape [4099,4]"));
    model.tensors["lm_head.weight"] = {"F64", {4099, 8}};
    CHECK(contains(refusal(model), "lm_head.weight has dtype F64"));
  }
}

TEST_CASE("checkpoint: tensors by what they do") {
  TestModel model;
  const TempDir dir;
  model.write(dir.path());
  const Checkpoint c(dir.str());
  const carbon::DecoderTensors tensors = carbon::decoder_tensors(c);
  CHECK(tensors.embedding.data == c.embedding().data);
  CHECK(tensors.head.data == c.head().data);
  CHECK(tensors.final_norm.data == c.tensor("model.norm.weight", 1, 8).data);
  REQUIRE(tensors.layers.size() == 2);
  const auto check = [&](const carbon::TensorView& view, const std::string& name, size_t rows, size_t cols) {
    CHECK(view.rows == rows);
    CHECK(view.cols == cols);
    CHECK(view.data == c.tensor("model.layers.1." + name + ".weight", rows, cols).data);
  };
  const carbon::LayerTensors& layer = tensors.layers[1];
  check(layer.attention_norm, "input_layernorm", 1, 8);
  check(layer.q, "self_attn.q_proj", 8, 8);
  check(layer.k, "self_attn.k_proj", 4, 8);
  check(layer.v, "self_attn.v_proj", 4, 8);
  check(layer.o, "self_attn.o_proj", 8, 8);
  check(layer.mlp_norm, "post_attention_layernorm", 1, 8);
  check(layer.gate, "mlp.gate_proj", 6, 8);
  check(layer.up, "mlp.up_proj", 6, 8);
  check(layer.down, "mlp.down_proj", 8, 6);
}

TEST_CASE("checkpoint: dtypes") {
  TestModel model;
  model.tensors["model.norm.weight"].dtype = "F32";
  {
    const TempDir dir;
    model.write(dir.path());
    CHECK(Checkpoint(dir.str()).all_bf16());  // only matrices count
  }
  model.tensors["model.layers.0.mlp.up_proj.weight"].dtype = "F16";
  {
    const TempDir dir;
    model.write(dir.path());
    const Checkpoint c(dir.str());
    CHECK_FALSE(c.all_bf16());
    CHECK(c.tensor("model.layers.0.mlp.up_proj.weight", 6, 8).dtype == carbon::WeightType::f16);
    CHECK(c.tensor("model.norm.weight", 1, 8).dtype == carbon::WeightType::f32);
  }
  model.tensors["model.norm.weight"].dtype = "F64";
  CHECK(contains(refusal(model), "model.norm.weight has dtype F64"));
}

TEST_CASE("checkpoint: tensors that do not fit the config") {
  TestModel model;
  SUBCASE("missing") {
    model.tensors.erase("model.layers.1.self_attn.k_proj.weight");
    CHECK(contains(refusal(model), "model.layers.1.self_attn.k_proj.weight [4,8] is missing"));
  }
  SUBCASE("another shape") {
    model.tensors["model.layers.0.self_attn.q_proj.weight"].shape = {8, 4};
    CHECK(contains(refusal(model), "has shape [8,4], but config.json requires [8,8]"));
  }
  SUBCASE("another rank") {
    model.tensors["model.norm.weight"].shape = {1, 8};
    CHECK(contains(refusal(model), "has shape [1,8], but config.json requires [8]"));
  }
  SUBCASE("a bias") {
    model.tensors["model.layers.0.self_attn.q_proj.bias"] = {"BF16", {8}};
    CHECK(contains(refusal(model), "q_proj.bias"));
  }
  SUBCASE("a query norm") {
    model.tensors["model.layers.0.self_attn.q_norm.weight"] = {"BF16", {4}};
    CHECK(contains(refusal(model), "q_norm.weight"));
  }
  SUBCASE("more layers than the config says") {
    model.config["num_hidden_layers"] = 1;
    CHECK(contains(refusal(model), "not part of the 1-layer decoder"));
  }
  SUBCASE("rotary buffers are ignored") {
    model.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"F32", {2}};
    CHECK(refusal(model) == "no error");
  }
  SUBCASE("tensors outside the model are ignored") {
    model.tensors["fns.table"] = {"F32", {2}};
    CHECK(refusal(model) == "no error");
  }
}

TEST_CASE("checkpoint: tensors that are not aligned to their element size are read") {
  const TempDir dir;
  const TestModel model;
  model.write(dir.path());
  const std::string digest = Checkpoint(dir.str()).sha256();
  const fs::path file = dir.path() / "model.safetensors";
  std::string bytes;
  {
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  write_raw_safetensors(file, bytes.substr(8, length) + " ", bytes.substr(8 + length));
  const Checkpoint c(dir.str());
  check_values(c, "model.embed_tokens.weight", 4099, 8);
  check_values(c, "model.layers.1.mlp.down_proj.weight", 8, 6);
  for (const char* name : {"model.embed_tokens.weight", "model.layers.0.self_attn.q_proj.weight"})
    CHECK(reinterpret_cast<uintptr_t>(c.tensor(name, c.find(name)->shape[0], 8).data) % 2 == 0);
  CHECK(c.sha256() == digest);
}

TEST_CASE("checkpoint: shards") {
  const TempDir dir;
  const TestModel model;
  json index = model.write_sharded(dir.path());
  const Checkpoint c(dir.str());
  check_values(c, "model.embed_tokens.weight", 4099, 8);
  check_values(c, "model.layers.0.mlp.gate_proj.weight", 6, 8);
  check_values(c, "model.layers.1.input_layernorm.weight", 1, 8);

  const auto message = [&](const json& changed) {
    write_text(dir.path() / "model.safetensors.index.json", changed.dump());
    return message_of([&] { Checkpoint opened(dir.str()); });
  };
  SUBCASE("a missing shard") {
    fs::remove(dir.path() / "model-00002-of-00002.safetensors");
    CHECK(contains(message(index), "model-00002-of-00002.safetensors: this shard"));
  }
  SUBCASE("a tensor in another shard than the index says") {
    json& shard = index["weight_map"]["model.norm.weight"];
    const bool first = shard == "model-00001-of-00002.safetensors";
    shard = first ? "model-00002-of-00002.safetensors" : "model-00001-of-00002.safetensors";
    CHECK(contains(message(index), "does not hold tensor 'model.norm.weight'"));
  }
  SUBCASE("a tensor the index forgets") {
    index["weight_map"].erase("model.norm.weight");
    CHECK(contains(message(index), "model.norm.weight [8] is missing"));
  }
  SUBCASE("shards elsewhere") {
    for (const json& bad : {json("../x.safetensors"), json("/etc/passwd"), json("a/b"), json(".."), json(""),
                            json(1), json("x\n.safetensors"), json(std::string("x\0", 2))}) {
      index["weight_map"]["model.norm.weight"] = bad;
      const std::string said = message(index);
      CHECK(contains(said, "not a plain file name"));
      CHECK_FALSE(contains(said, "\n"));
    }
  }
  SUBCASE("no weight_map") {
    CHECK(contains(message({{"metadata", 1}}), "has no weight_map"));
  }
  SUBCASE("no weights at all") {
    fs::remove(dir.path() / "model.safetensors.index.json");
    CHECK(contains(message_of([&] { Checkpoint opened(dir.str()); }), "neither model.safetensors nor"));
  }
}

TEST_CASE("checkpoint: the name it goes by") {
  const TempDir dir;
  const auto id_at = [&](const std::string& place, const std::string& suffix) {
    TestModel().write(dir.path() / place);
    return Checkpoint((dir.path() / place).string() + suffix).id();
  };
  CHECK(id_at("my-model", "") == "my-model");
  CHECK(id_at("my-model", "/") == "my-model");
  CHECK(id_at("my-model", "/.") == "my-model");
  CHECK(id_at("models--Org--Carbon-3B/snapshots/abc", "") == "Org/Carbon-3B");
  CHECK(id_at("models--solo/snapshots/abc", "") == "solo");
}

TEST_CASE("digest: known answers") {
  CHECK(carbon::sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(carbon::sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("digest: follows tensors and config, not files") {
  const TempDir cache;
  const Environment xdg("XDG_CACHE_HOME", cache.str());
  const TempDir single, sharded;
  TestModel model;
  model.write(single.path());
  model.write_sharded(sharded.path());
  const std::string base = Checkpoint(single.str()).sha256();
  CHECK(base.size() == 64);
  CHECK(Checkpoint(sharded.str()).sha256(3) == base);
  CHECK(fs::is_empty(cache.path()));  // files this young are not remembered

  // The same digest, computed here by its definition.
  std::string lines;
  for (const auto& [name, t] : model.tensors) {
    const std::string shape = t.shape.size() == 1
                                  ? "[" + std::to_string(t.shape[0]) + "]"
                                  : "[" + std::to_string(t.shape[0]) + "," + std::to_string(t.shape[1]) + "]";
    lines += name + " BF16 " + shape + " " + carbon::sha256_hex(pattern(name, t.bytes())) + "\n";
  }
  CHECK(carbon::sha256_hex(lines + carbon::config_fingerprint(Checkpoint(single.str()).config())) == base);

  model.config["rms_norm_eps"] = 1e-5;
  model.write(single.path());
  CHECK(Checkpoint(single.str()).sha256() != base);
}

TEST_CASE("digest: remembered until a file changes") {
  const TempDir cache, dir;
  const Environment xdg("XDG_CACHE_HOME", cache.str());
  const TestModel model;
  model.write(dir.path());
  settle(dir.path());
  const std::string base = Checkpoint(dir.str()).sha256();
  std::vector<fs::path> kept;
  for (const auto& entry : fs::directory_iterator(cache.path() / "carbon")) kept.push_back(entry.path());
  REQUIRE(kept.size() == 1);

  // A false value shows that the second run uses the stored digest. A damaged value must not be used.
  std::string text;
  {
    std::ifstream in(kept[0], std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  CHECK(text.substr(0, 65) == base + "\n");
  const std::string planted(64, 'a');
  write_text(kept[0], planted + text.substr(64));
  CHECK(Checkpoint(dir.str()).sha256() == planted);
  write_text(kept[0], std::string(64, 'z') + text.substr(64));
  CHECK(Checkpoint(dir.str()).sha256() == base);
  write_text(kept[0], planted + text.substr(64) + "x");
  CHECK(Checkpoint(dir.str()).sha256() == base);

  write_text(kept[0], planted + text.substr(64));
  fs::last_write_time(dir.path() / "config.json", fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(Checkpoint(dir.str()).sha256() == base);
}

TEST_CASE("digest: a cache that cannot be used is not an error") {
  const TempDir dir;
  TestModel().write(dir.path());
  settle(dir.path());
  write_text(dir.path() / "file", "");
  const Environment xdg("XDG_CACHE_HOME", dir.str() + "/file");
  CHECK(Checkpoint(dir.str()).sha256().size() == 64);
}

TEST_CASE("checkpoint: tensors as AutoModel and wrappers of training name them") {
  TestModel plain;
  const TempDir dir;
  plain.write(dir.path());
  const std::string digest = Checkpoint(dir.str()).sha256();
  const auto renamed = [&](const std::function<std::string(const std::string&)>& name, bool sharded) {
    TestModel other;
    other.tensors.clear();
    for (auto [old, tensor] : plain.tensors) {
      tensor.like = old;
      other.tensors[name(old)] = tensor;
    }
    other.config["architectures"] = {"LlamaModel"};
    const TempDir folder;
    sharded ? void(other.write_sharded(folder.path())) : other.write(folder.path());
    return Checkpoint(folder.str()).sha256();
  };
  const auto without_model = [](const std::string& name) {
    return name.substr(std::string("model.").size());
  };
  for (const bool sharded : {false, true}) {
    CHECK(renamed(without_model, sharded) == digest);
    CHECK(renamed([](const std::string& name) { return "_orig_mod." + name; }, sharded) == digest);
    CHECK(renamed([&](const std::string& name) { return "module._orig_mod." + without_model(name); },
                  sharded) == digest);
    CHECK(renamed(
              [](std::string name) {
                if (const size_t at = name.find("self_attn"); at != name.npos) name.insert(at, "_orig_mod.");
                return name;
              },
              sharded) == digest);
  }
  // Of two tensors that mean the same, none is chosen.
  TestModel twice = plain;
  twice.tensors["module.norm.weight"] = twice.tensors["_orig_mod.norm.weight"] = {"BF16", {8}};
  twice.tensors.erase("model.norm.weight");
  twice.write(dir.path());
  CHECK(contains(message_of([&] { Checkpoint opened(dir.str()); }),
                 "two tensors that are both model.norm.weight"));
  // One that has its name already is what counts, as before.
  TestModel both = plain;
  both.tensors["norm.weight"] = {"BF16", {8}};
  both.write(dir.path());
  CHECK(Checkpoint(dir.str()).sha256() == digest);
  // What AutoModel leaves out.
  TestModel headless = plain;
  headless.config["tie_word_embeddings"] = false;
  headless.config["architectures"] = {"LlamaModel"};
  headless.write(dir.path());
  CHECK(contains(message_of([&] { Checkpoint opened(dir.str()); }), "AutoModelForCausalLM"));
}
