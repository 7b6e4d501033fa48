// What the tests of the CPU's kernels and the checks of the GPU's have in common: random data, values as they
// are stored, marginals by brute force.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/ops.hpp"

namespace carbon::testing {

/// A small deterministic generator of floats in [-1, 1).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 88172645463325252u) {}
  float next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<float>(static_cast<int32_t>(state_ >> 32)) * 0x1p-31f;
  }
  std::vector<float> vector(size_t n, float scale = 1.0f) {
    std::vector<float> v(n);
    for (float& x : v) x = next() * scale;
    return v;
  }

 private:
  uint64_t state_;
};

/// Values in one of the storage types, and what they are exactly.
struct Stored {
  DType type;
  std::vector<uint16_t> half;  // bf16 or f16
  std::vector<float> value;
  const void* data() const {
    return type == DType::f32 ? static_cast<const void*>(value.data()) : half.data();
  }
};

inline Stored stored(DType type, std::vector<float> value) {
  Stored s{type, {}, std::move(value)};
  if (type == DType::f32) return s;
  for (float& v : s.value) {
    // f16 by way of bf16: eleven bits hold eight, and the values here are far from f16's range.
    const bf16 b = to_bf16(v);
    v = to_float(b);
    uint16_t h = b.bits;
    if (type == DType::f16) {
      const uint32_t u = std::bit_cast<uint32_t>(v);
      const int exponent = static_cast<int>((u >> 23) & 0xff) - 112;
      h = exponent <= 0 ? 0
                        : static_cast<uint16_t>((u >> 16 & 0x8000u) | (exponent << 10) | ((u >> 13) & 0x3ff));
      v = half_to_float(h);
    }
    s.half.push_back(h);
  }
  return s;
}

/// ln P_j(b) by brute force, each group with its own maximum.
inline std::vector<double> brute_force(const float* z) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto logsumexp = [&](auto take) {
    double largest = -kInfinity, sum = 0;
    for (size_t i = 0; i < ops::kKmers; ++i)
      if (take(i)) largest = std::max(largest, static_cast<double>(z[i]));
    for (size_t i = 0; i < ops::kKmers; ++i)
      if (take(i)) sum += std::exp(static_cast<double>(z[i]) - largest);
    return largest + std::log(sum);
  };
  const double total = logsumexp([](size_t) { return true; });
  std::vector<double> out;
  for (size_t j = 0; j < 6; ++j)
    for (size_t b = 0; b < 4; ++b) {
      const size_t place = size_t{1} << (2 * (5 - j));
      out.push_back(logsumexp([&](size_t i) { return i / place % 4 == b; }) - total);
    }
  return out;
}

}  // namespace carbon::testing
