// Tensors that the program made itself: their places, the memory behind them, and a checkpoint with replaced
// tensors.
#include "src/model/tensor_buffer.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "src/model/checkpoint.hpp"
#include "src/model/digest.hpp"
#include "test/unit/model_fixture.hpp"

using namespace model_test;
using carbon::Checkpoint;
using carbon::TensorBuffer;

TEST_CASE("tensor buffer: bytes that were given back are still there") {
  const uint64_t rows = 300, cols = 1000;  // many pages
  TensorBuffer made("made", {{"a", "BF16", {3}}, {"b", "F32", {rows, cols}}, {"c", "F16", {2, 2}}});
  CHECK(made.size() >= 6 + rows * cols * 4 + 8);
  for (const auto& [name, info] : made.tensors()) {
    CHECK(info.begin % 64 == 0);
    CHECK(reinterpret_cast<uintptr_t>(made.data() + info.begin) % 64 == 0);
    const auto bytes = made.writable(name);
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; }));
    const std::string text = pattern(name, bytes.size());
    std::copy(text.begin(), text.end(), bytes.begin());
  }
  made.finish();
  for (int round = 0; round < 2; ++round) {  // the first gives the pages back
    for (const auto& [name, info] : made.tensors()) {
      CAPTURE(name);
      CHECK(carbon::sha256_hex_of_mapping(made.data() + info.begin, info.end - info.begin) ==
            carbon::sha256_hex(pattern(name, info.end - info.begin)));
    }
  }
  CHECK(contains(message_of([&] { made.writable("a"); }), "already in use"));
}

TEST_CASE("tensor buffer: what cannot be made") {
  const auto message = [](const std::vector<carbon::TensorSpec>& tensors) {
    return message_of([&] { TensorBuffer made("made", tensors); });
  };
  CHECK(contains(message({{"a", "F64", {3}}}), "made: tensor 'a': has dtype F64"));
  CHECK(contains(message({{"a", "F32", {1ull << 62, 1ull << 62}}}), "is no size"));
  CHECK(contains(message({{"a", "F32", {1ull << 61}}}), "is no size"));
  CHECK(contains(message({{"a", "F32", {1}}, {"a", "F32", {1}}}), "comes twice"));
  TensorBuffer empty("none", {});
  CHECK(empty.tensors().empty());
  CHECK(contains(message_of([&] { empty.writable("a"); }), "there is no tensor 'a'"));
}

TEST_CASE("checkpoint: replaced tensors") {
  const TempDir dir;
  TestModel().write(dir.path());
  const std::string name = "model.layers.1.self_attn.k_proj.weight";
  Checkpoint c(dir.str());
  const std::string digest = c.sha256();
  const auto replacement = [&](const std::string& dtype, std::vector<uint64_t> shape,
                               const std::string& tensor) {
    auto made =
        std::make_unique<TensorBuffer>("made", std::vector<carbon::TensorSpec>{{tensor, dtype, shape}});
    std::fill_n(made->writable(tensor).begin(), made->writable(tensor).size(), uint8_t{7});
    made->finish();
    return made;
  };
  c.replace(replacement("F32", {4, 8}, name));
  const carbon::TensorView view = c.tensor(name, 4, 8);
  CHECK(view.dtype == carbon::WeightType::f32);
  CHECK(std::string(static_cast<const char*>(view.data), view.bytes()) == std::string(4 * 8 * 4, '\7'));
  CHECK_FALSE(c.all_bf16());
  CHECK(c.sha256() != digest);
  c.replace(replacement("BF16", {4, 8}, name));
  CHECK(c.tensor(name, 4, 8).dtype == carbon::WeightType::bf16);

  const auto refusal = [&](std::unique_ptr<TensorBuffer> made) {
    Checkpoint other(dir.str());
    return message_of([&] { other.replace(std::move(made)); });
  };
  CHECK(contains(refusal(replacement("F32", {8, 4}, name)), "has shape [8,4]"));
  CHECK(contains(refusal(replacement("F32", {4, 8}, "model.layers.7.x")), "replaces none"));
}
