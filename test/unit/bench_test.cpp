// What `carbon bench` counts and how it sums up; synthetic checkpoints.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_machine.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/bench/run.hpp"
#include "src/model/synthetic.hpp"

using namespace carbon;

namespace {

ModelConfig small_config() {
  ModelConfig c;
  c.hidden = 8;
  c.layers = 3;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 4;
  c.intermediate = 16;
  c.vocab = 5000;
  c.tied_head = true;
  return c;
}

// Operations by walking over every token of every layer.
double counted(const ModelConfig& c, const WorkChunk& chunk) {
  double flops = 0;
  for (size_t layer = 0; layer < c.layers; ++layer)
    for (size_t i = 0; i < chunk.tokens; ++i) {
      flops += 2.0 * c.hidden * c.kv_heads * c.head_dim * 2;
      if (layer + 1 == c.layers && i + chunk.wanted < chunk.tokens) continue;
      flops += 2.0 * c.hidden * c.heads * c.head_dim * 2 + 2.0 * c.hidden * c.intermediate * 3;
      for (size_t key = 0; key <= chunk.past + i; ++key) flops += 2.0 * c.heads * c.head_dim * 2;
    }
  return flops + 2.0 * c.hidden * 4096 * chunk.wanted;
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the work of a forward pass is that of its tokens, one by one") {
  const ModelConfig config = small_config();
  for (const WorkChunk chunk : {WorkChunk{0, 1, 1}, {0, 7, 1}, {0, 7, 7}, {5, 1, 1}, {5, 9, 4}, {3, 2, 0}}) {
    CAPTURE(chunk.past);
    CAPTURE(chunk.tokens);
    CHECK(forward_work(config, {}, std::span(&chunk, 1)).flops == counted(config, chunk));
  }
  // q, o; k, v; gate, up, down; 6-mers.
  const double weights = 3 * (2 * 8 * 16 + 2 * 8 * 8 + 3 * 8 * 16) + 4096 * 8;
  CHECK(read_parameters(config) == weights);
  const std::vector<WorkChunk> two = {{4, 2, 1}, {0, 3, 3}};
  const PassWork work = forward_work(config, {2, 4}, two);
  CHECK(work.bytes == 2 * weights + 4 * (6 + 3) * 3 * 2 * 8);
  CHECK(work.flops == counted(config, two[0]) + counted(config, two[1]));
}

TEST_CASE("requests are counted with those that continue them") {
  const ModelConfig config = small_config();
  const auto window = std::make_shared<Request>();
  window->tokens.resize(10);
  window->want_begin = 6;
  std::vector<RequestPtr> requests{window};
  for (int i = 0; i < 2; ++i) {
    const auto alternative = std::make_shared<Request>();
    alternative->parent = window;
    alternative->shared = 7;
    alternative->tokens.resize(3);
    requests.push_back(alternative);
  }
  const PassWork work = requests_work(config, {}, requests);
  CHECK(work.flops == counted(config, {0, 10, 4}) + 2 * counted(config, {7, 3, 3}));
}

TEST_CASE("the published shapes have the published numbers of parameters") {
  const auto millions = [](const char* shape) { return parameters(synthetic_config(shape)) / 1e6; };
  CHECK(millions("500M") == doctest::Approx(512).epsilon(0.001));
  CHECK(millions("3B") == doctest::Approx(3451).epsilon(0.001));
  CHECK(millions("8B") == doctest::Approx(8256).epsilon(0.001));
  CHECK(parameters(synthetic_config("marin")) == 1120772224);
  // Without the vocabulary but its 6-mers.
  CHECK(read_parameters(synthetic_config("500M")) / 1e6 == doctest::Approx(352.3 + 4.2).epsilon(0.001));
  CHECK(message_of([] { synthetic_config("1B"); }).find("1B") != std::string::npos);
}

TEST_CASE("spreads") {
  const Spread odd = spread_of({3, 1, 2}), even = spread_of({4, 1, 2, 3}), one = spread_of({5});
  CHECK(odd.median == 2);
  CHECK(odd.least == 1);
  CHECK(odd.most == 3);
  CHECK(even.median == 2.5);
  CHECK(one.median == 5);
}

TEST_CASE("a share of the limit is that of the scarcer resource, each round by its own limits") {
  const std::vector<BenchLimit> limits = {{"read", "", LimitKind::bandwidth, {}},
                                          {"a", "", LimitKind::matrix, {}},
                                          {"b", "", LimitKind::matrix, {}},
                                          {"copy", "", LimitKind::other, {}}};
  const BenchTimes times{{{10, 20}, {100, 100}, {200, 50}, {1e9, 1e9}}, {}};
  const std::vector<double> seconds = {2, 8};
  // 10 bytes a second against 200 operations; then 20 against 100.
  const LimitShare products = share_of_limit({400, 5}, seconds, limits, times);
  CHECK(products.shares == std::vector<double>{1, 0.5});
  CHECK_FALSE(products.by_reading);
  const LimitShare reading = share_of_limit({100, 80}, seconds, limits, times);
  CHECK(reading.shares == std::vector<double>{4, 0.5});
  CHECK(reading.by_reading);
}

TEST_CASE("a synthetic checkpoint that does not fit is refused with what it takes") {
  BenchOptions options;
  options.synthetic = "8B";
  const uint64_t needed = synthetic_memory(options);
  // The weights that are computed with, the numbers that they repeat, and room to work in.
  CHECK(needed > 15ull << 30);
  CHECK(needed < 20ull << 30);
  CHECK_NOTHROW(check_synthetic_memory(options, needed));
  const std::string message = message_of([&] { check_synthetic_memory(options, uint64_t{3} << 30); });
  CHECK(message.find("3.0 GiB") != std::string::npos);
  CHECK(message.find("8B") != std::string::npos);
  options.sizes.batches = {1, 4096};
  CHECK(synthetic_memory(options) > needed + (uint64_t{16} << 30));
}

TEST_CASE("a synthetic checkpoint has every tensor, in memory that repeats") {
  if (available_memory() < uint64_t{2} << 30) {
    MESSAGE("SKIPPED: needs 2 GiB of free memory");
    return;
  }
  const Checkpoint checkpoint = synthetic_checkpoint("8B", std::nullopt);
  const ModelConfig& config = checkpoint.config();
  CHECK(checkpoint.id() == "synthetic-8B");
  CHECK(checkpoint.all_bf16());
  const auto at = [](const TensorView& view, size_t i) {
    return to_float(static_cast<const bf16*>(view.data)[i]);
  };

  const TensorView matrix =
      checkpoint.tensor("model.layers.31.mlp.down_proj.weight", config.hidden, config.intermediate);
  CHECK(at(checkpoint.tensor("model.norm.weight", 1, config.hidden), config.hidden - 1) == 1.0f);
  double sum = 0, least = 1, most = 0;
  for (size_t i = 0; i < 100000; ++i) {
    const float value = at(matrix, i);
    sum += value;
    least = std::min<double>(least, std::abs(value));
    most = std::max<double>(most, std::abs(value));
  }
  CHECK(least == 0x1p-6);
  CHECK(most < 0x1p-5);
  CHECK(most > 0.99 * 0x1p-5);
  CHECK(std::abs(sum / 100000) < 5 * 0.024 / std::sqrt(100000.0));

  // A gibibyte on it is the same, and the last element can be read.
  const TensorView embedding = checkpoint.embedding();
  constexpr size_t kGibibyte = size_t{1} << 30;
  REQUIRE(embedding.bytes() > kGibibyte + 4096);
  const char* const data = static_cast<const char*>(embedding.data);
  CHECK(std::memcmp(data, data + kGibibyte, 4096) == 0);
  CHECK(std::memcmp(data, data + 4096, 4096) != 0);
  const TensorView head = checkpoint.head();
  CHECK(head.data != embedding.data);
  CHECK(at(head, head.rows * head.cols - 1) != 0.0f);
}

TEST_CASE("multiply-adds run for every type of products") {
  CHECK(cpu::multiply_add_rate(WeightType::f32, 1) > 1e6);
  CHECK(cpu::multiply_add_rate(WeightType::bf16, 2) > 1e6);
  CHECK(cpu::multiply_add_rate(WeightType::q8_0, 2) > 1e6);
}
