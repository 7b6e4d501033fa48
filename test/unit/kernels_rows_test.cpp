// Row-wise operations and the exponential: against double precision for every instruction set.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/unit/kernels_support.hpp"

using namespace carbon;
using namespace carbon::testing;

TEST_CASE("the vector exponential is within 1.5 ulp and right at its ends") {
  for (const cpu::Kernels* kernels : cpu::supported_kernels()) {
    std::vector<float> x;
    for (float v = -103.9f; v < 88.7f; v += 0.00317f) x.push_back(v);
    std::vector<float> y(x.size());
    kernels->exp_shifted(x.data(), x.size(), 0.0f, y.data());
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp(static_cast<double>(x[i]));
      const double unit = std::max(std::ldexp(1.0, std::ilogb(exact) - 23), 0x1p-149);
      worst = worse(worst, std::fabs(static_cast<double>(y[i]) - exact) / unit);
    }
    INFO(kernels->name, " worst ulp ", worst);
    CHECK(worst < 1.5);
    const float inf = std::numeric_limits<float>::infinity();
    const float ends[] = {0.0f, -0.0f, inf, -inf, std::nanf(""), 89.0f, -106.0f, 1e30f, -1e30f};
    float got[9];
    kernels->exp_shifted(ends, 9, 0.0f, got);
    CHECK(got[0] == 1.0f);
    CHECK(got[1] == 1.0f);
    CHECK(got[2] == inf);
    CHECK(got[3] == 0.0f);
    CHECK(std::isnan(got[4]));
    CHECK(got[5] == inf);
    CHECK(got[6] == 0.0f);
    CHECK(got[7] == inf);
    CHECK(got[8] == 0.0f);
  }
}

TEST_CASE("every half and bf16 widens exactly, and rounding to bf16 equals to_bf16") {
  std::vector<uint16_t> all(65536 + 3);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const cpu::Kernels* kernels : cpu::supported_kernels()) {
    std::vector<float> half(all.size()), brain(all.size());
    kernels->widen(all.data(), WeightType::f16, all.size(), half.data());
    kernels->widen(all.data(), WeightType::bf16, all.size(), brain.data());
    bool right = true;
    for (size_t i = 0; i < all.size(); ++i) {
      const float h = half_to_float(all[i]), b = to_float(bf16{all[i]});
      right = right && (std::isnan(h) ? std::isnan(half[i]) : same_bits(&h, &half[i], 1)) &&
              (std::isnan(b) ? std::isnan(brain[i]) : same_bits(&b, &brain[i], 1));
    }
    // Ties, subnormals, values that round up to infinity, and the values of a shifted counter.
    std::vector<float> values;
    for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 4099 * 16) {
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(u)));
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>((u & 0xffff0000u) | 0x8000u)));
    }
    values.push_back(std::numeric_limits<float>::max());
    std::vector<bf16> rounded(values.size());
    kernels->narrow(values.data(), values.size(), rounded.data());
    for (size_t i = 0; i < values.size(); ++i) right = right && rounded[i].bits == to_bf16(values[i]).bits;
    INFO(kernels->name);
    CHECK(right);
  }
}

TEST_CASE("q8_0 widens exactly, by the kernels, the header and as rows of an embedding") {
  Random random(30);
  StoredBlocks table = stored_q8_0(random.vector(10 * 96, 3.0f));
  // Every int8 with a normal, a subnormal, a negative and a zero scale of f16.
  for (const uint16_t scale : {0x2e66, 0x0003, 0xb800, 0x0000})
    for (int first = -128; first < 128; first += 32) {
      table.bytes.insert(table.bytes.end(), {static_cast<uint8_t>(scale), static_cast<uint8_t>(scale >> 8)});
      for (int q = first; q < first + 32; ++q) {
        table.bytes.push_back(static_cast<uint8_t>(q));
        table.value.push_back(half_to_float(scale) * static_cast<float>(q));
      }
    }
  const size_t n = table.value.size();
  CHECK(weight_bytes(WeightType::q8_0, n) == table.bytes.size());
  std::vector<float> wide(n);
  widen_q8_0(table.bytes.data(), n, wide.data());
  CHECK(same_bits(wide.data(), table.value.data(), n));
  for (const Way& way : ways()) {
    std::fill(wide.begin(), wide.end(), -7.0f);
    cpu::select_kernels(way.isa).widen(table.bytes.data(), WeightType::q8_0, n, wide.data());
    INFO(way.name());
    CHECK(same_bits(wide.data(), table.value.data(), n));
    const std::vector<uint32_t> rows{9, 0, 3};
    std::vector<float> x(3 * 96);
    way.make(DType::f32)->embed({table.bytes.data(), WeightType::q8_0, 10, 96}, rows, x.data());
    for (size_t i = 0; i < 3; ++i) CHECK(same_bits(&x[i * 96], &table.value[rows[i] * 96], 96));
  }
}

TEST_CASE("embed and select_rows copy the right rows") {
  Random random(3);
  for (const Way& way : ways())
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
      const size_t width = 37;
      const Stored table = stored(type, random.vector(10 * width));
      const auto backend = way.make(DType::bf16, 2);
      const std::vector<uint32_t> rows{9, 0, 3, 3};
      std::vector<float> x(4 * width), picked(2 * width);
      backend->embed({table.data(), type, 10, width}, rows, x.data());
      for (size_t i = 0; i < 4; ++i) CHECK(same_bits(&x[i * width], &table.value[rows[i] * width], width));
      const std::vector<uint32_t> pick{3, 1};
      backend->select_rows(x.data(), pick, width, picked.data());
      CHECK(same_bits(&picked[0], &x[3 * width], width));
      CHECK(same_bits(&picked[width], &x[width], width));
      const std::vector<uint32_t> outside{10};
      CHECK_THROWS_AS(backend->embed({table.data(), type, 10, width}, outside, x.data()), Error);
    }
}

TEST_CASE("norm agrees with double precision and is the same for any rows and threads") {
  const float eps = 1e-6f;
  for (const Way& way : ways())
    for (const DType type : {DType::f32, DType::bf16})
      for (const size_t width : {1, 20, 64, 1000, 3072}) {
        Random random(width);
        const size_t n = 50;
        const std::vector<float> x = random.vector(n * width), weight = random.vector(width);
        const auto backend = way.make(type, 2);
        std::vector<uint8_t> act(n * width * dtype_size(type));
        backend->norm(x.data(), weight.data(), eps, n, width, act.data());
        const std::vector<float> got = from_act(type, act);
        double worst = 0;
        for (size_t i = 0; i < n; ++i) {
          double squares = 0;
          for (size_t j = 0; j < width; ++j)
            squares += static_cast<double>(x[i * width + j]) * static_cast<double>(x[i * width + j]);
          const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + static_cast<double>(eps));
          for (size_t j = 0; j < width; ++j) {
            const double exact =
                static_cast<double>(x[i * width + j]) * scale * static_cast<double>(weight[j]);
            // Half the relative error of the sum of squares (width terms), three roundings, and the stored
            // type's.
            const double bound =
                std::fabs(exact) * ((static_cast<double>(width) / 2 + 4) * 0x1p-24 + act_epsilon(type));
            worst = worse(worst, std::fabs(static_cast<double>(got[i * width + j]) - exact) - bound);
          }
        }
        INFO(way.name(), " ", dtype_name(type), " width ", width);
        CHECK(worst <= 0x1p-126);
        std::vector<uint8_t> one(width * dtype_size(type));
        way.make(type)->norm(&x[(n - 1) * width], weight.data(), eps, 1, width, one.data());
        CHECK(same_bits(one.data(), &act[(n - 1) * one.size()], one.size()));
      }
}

TEST_CASE(
    "norms of heads have the bits of a norm of each head alone, in place and for any rows and threads") {
  constexpr float kEps = 1e-6f;
  constexpr size_t kRows = 70, kHeads = 3;
  for (const Way& way : ways())
    for (const size_t head_dim : {size_t{20}, size_t{64}, size_t{128}}) {
      Random random(head_dim);
      const size_t width = kHeads * head_dim, ld = width + 2 * head_dim;  // heads that stay follow in a row
      const std::vector<float> x = random.vector(kRows * ld, 3.0f), weight = random.vector(head_dim);
      std::vector<float> got = x;
      way.make(DType::bf16, 2)->norm_heads(got.data(), weight.data(), kEps, kRows, kHeads, head_dim, ld);
      std::vector<float> wanted = x;
      const auto one = way.make(DType::f32);
      for (size_t row = 0; row < kRows; ++row)
        for (size_t head = 0; head < kHeads; ++head) {
          const size_t at = row * ld + head * head_dim;
          one->norm(&x[at], weight.data(), kEps, 1, head_dim, &wanted[at]);
        }
      INFO(way.name(), " ", head_dim);
      CHECK(same_bits(got.data(), wanted.data(), got.size()));
      std::vector<float> alone(x.end() - static_cast<ptrdiff_t>(ld), x.end());
      way.make(DType::bf16)->norm_heads(alone.data(), weight.data(), kEps, 1, kHeads, head_dim, ld);
      CHECK(same_bits(alone.data(), &got[(kRows - 1) * ld], ld));
    }
}

TEST_CASE("states and their sums have the bits of plain loops, for any threads and divided anyhow") {
  for (const size_t width : {1, 20, 1000, 3072}) {
    const testing::States states(width);
    for (const Way& way : ways())
      for (const int threads : {1, 3}) {
        INFO(way.name(), " width ", width);
        const auto backend = way.make(DType::bf16, threads);
        const size_t n = testing::States::kRows;
        std::vector<float> normed(n * width);
        backend->final_norm(states.x.data(), states.weight.data(), testing::States::kEps, n, width,
                            normed.data());
        CHECK(same_bits(normed.data(), states.normed.data(), normed.size()));
        for (const bool norm : {false, true}) {
          std::vector<double> sums = states.before();
          backend->sum_rows(states.x.data(), norm ? states.weight.data() : nullptr, testing::States::kEps,
                            width, testing::States::rows(), sums.data());
          const std::vector<double> want = states.sums(norm);
          CHECK(same_bits(sums.data(), want.data(), want.size()));
        }
      }
  }
}

TEST_CASE("swiglu agrees with double precision, keeps its range and lets NaN through") {
  for (const Way& way : ways())
    for (const DType type : {DType::f32, DType::bf16})
      for (const size_t width : {1, 5, 33, 512}) {
        Random random(width);
        const size_t n = 9;
        const std::vector<float> in = random.vector(n * 2 * width, 20.0f);
        const auto backend = way.make(type, 2);
        std::vector<uint8_t> act(n * width * dtype_size(type));
        backend->swiglu(in.data(), n, width, act.data());
        const std::vector<float> got = from_act(type, act);
        double worst = 0;
        for (size_t i = 0; i < n; ++i)
          for (size_t j = 0; j < width; ++j) {
            const double g = static_cast<double>(in[i * 2 * width + j]);
            const double exact = g / (1 + std::exp(-g)) * static_cast<double>(in[(i * 2 + 1) * width + j]);
            const double bound = std::fabs(exact) * (6 * 0x1p-24 + act_epsilon(type)) + 0x1p-149;
            worst = worse(worst, std::fabs(static_cast<double>(got[i * width + j]) - exact) / bound);
          }
        INFO(way.name(), " ", dtype_name(type), " width ", width);
        CHECK(worst <= 1.0);
        const std::vector<float> edge{-1e30f, -200.0f, 1e30f, std::nanf(""), 1.0f, 1.0f, 1.0f, 1.0f};
        std::vector<uint8_t> edge_act(4 * dtype_size(type));
        backend->swiglu(edge.data(), 1, 4, edge_act.data());
        const std::vector<float> e = from_act(type, edge_act);
        CHECK(e[0] == 0.0f);
        CHECK(e[1] == 0.0f);
        CHECK(e[2] > 9e29f);
        CHECK(std::isnan(e[3]));
      }
}

TEST_CASE("memory is aligned and zero, and copies arrive") {
  const auto backend = Way{"generic"}.make(DType::f32);
  for (const size_t bytes : {0, 1, 64, 1000003}) {
    char* const p = static_cast<char*>(backend->allocate(bytes));
    CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0);
    CHECK(std::all_of(p, p + bytes, [](char c) { return c == 0; }));
    backend->release(p);
  }
  CHECK_THROWS_AS(backend->allocate(std::numeric_limits<size_t>::max() - 8), Error);
  const std::vector<float> in{1, 2, 3};
  float there[3], back[3];
  backend->upload(in.data(), 3, there);
  backend->download(there, 3, back);
  CHECK(same_bits(in.data(), back, 3));
}
