// chain_model.hpp: what the ways to add products make of sums whose results are known without a GPU.
#include "bench/gpu/chain_model.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace carbon::gpu_bench;

/// Of products of `a` with ones; the rest of the chain is zeros.
float sum_of(const ChainModel& model, std::vector<float> a, float before = 0) {
  a.resize((a.size() + 15) / 16 * 16, 0.0f);
  const std::vector<float> ones(a.size(), 1.0f);
  return run_chain(model, before, a.data(), ones.data(), a.size());
}

constexpr ChainModel kHopper{16, 25, false}, kAmpere{8, 24, false}, kVolta{4, 23, false}, kPlain{1, 0, true};

}  // namespace

TEST_CASE("every model sums small integers exactly") {
  for (const ChainModel& model : chain_models()) {
    std::vector<float> a, b;
    float want = 3;
    for (int i = 0; i < 64; ++i) {
      a.push_back(static_cast<float>(i % 17 - 8));
      b.push_back(static_cast<float>(i % 5 - 2));
      want += a.back() * b.back();
    }
    CAPTURE(model.name());
    CHECK(run_chain(model, 3, a.data(), b.data(), a.size()) == want);
  }
}

TEST_CASE("what is below the last bit that is kept is cut off, term by term") {
  // Beside 1 a quarter of a unit of f32 is the last of 25 bits behind the point, and an eighth is lost.
  const float quarter = 0x1p-25f, eighth = 0x1p-26f;
  const std::vector<float> quarters(9, quarter), eighths(15, eighth);
  const auto with_one = [](std::vector<float> small) {
    small.insert(small.begin(), 1.0f);
    return small;
  };
  CHECK(sum_of(kHopper, with_one({quarter, quarter, quarter})) == 1.0f);  // the end is cut off
  CHECK(sum_of(kHopper, with_one({quarter, quarter, quarter, quarter})) == 1.0f + 0x1p-23f);
  CHECK(sum_of(kHopper, with_one(eighths)) == 1.0f);
  CHECK(sum_of({16, 26, false}, with_one(eighths)) == 1.0f + 0x1p-23f);
  CHECK(sum_of({16, 26, true}, with_one(eighths)) == 1.0f + 0x1p-22f);  // 15 eighths are nearer to two units
  CHECK(sum_of({16, 24, false}, with_one(quarters)) == 1.0f);
  CHECK(sum_of(kPlain, with_one(quarters)) == 1.0f);
}

TEST_CASE("in which order a large number comes and goes tells the models apart by their terms") {
  // In one addition with a large number small ones are lost, before or after it; in the next one, when the
  // large one is gone, they are kept.
  std::vector<float> a(16, 1.0f);
  a[2] = 0x1p30f;
  a[3] = -0x1p30f;
  CHECK(sum_of(kHopper, a) == 0.0f);
  CHECK(sum_of(kAmpere, a) == 8.0f);
  CHECK(sum_of(kVolta, a) == 12.0f);
  CHECK(sum_of(kPlain, a) == 12.0f);
  CHECK(sum_of({16, 0, true}, a) == 14.0f);
}

TEST_CASE("sums are cut off towards zero, or rounded to the nearest even number") {
  const float unit = 0x1p-23f;
  const std::vector<float> three_quarters{1.0f, 0x1p-24f, 0x1p-25f};
  for (const float sign : {1.0f, -1.0f}) {
    std::vector<float> a;
    for (const float x : three_quarters) a.push_back(sign * x);
    CHECK(sum_of(kHopper, a) == sign);
    CHECK(sum_of({16, 25, true}, a) == sign * (1.0f + unit));
  }
  CHECK(sum_of({16, 25, true}, {1.0f, 0x1p-24f}) == 1.0f);
  CHECK(sum_of({16, 25, true}, {1.0f + unit, 0x1p-24f}) == 1.0f + 2 * unit);
}

TEST_CASE("the sum before takes part as a product does") {
  CHECK(sum_of(kHopper, {0x1p-26f, 0x1p-26f}, 1.0f) == 1.0f);
  CHECK(sum_of(kHopper, {0x1p30f}, 1.0f) == 0x1p30f);
  CHECK(sum_of(kHopper, {0x1p25f}, 1.0f) == 0x1p25f);
  CHECK(sum_of(kAmpere, {-0x1p25f, 0, 0, 0, 0, 0, 0, 0, 0x1p25f}, 1.0f) == 0.0f);
}

TEST_CASE("numbers below the least exponent stay, and what is too large becomes infinite") {
  const float a[16] = {0x1p-70f, 0x1.8p-72f}, b[16] = {0x1p-75f, 0x1p-76f};
  CHECK(run_chain(kHopper, 0x1p-149f, a, b, 16) == 0x1p-145f + 0x1.8p-148f + 0x1p-149f);
  const float large[16] = {0x1p127f, 0x1p127f}, ones[16] = {1, 1};
  CHECK(std::isinf(run_chain(kHopper, 0, large, ones, 16)));
}
