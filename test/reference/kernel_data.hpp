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
    // f16 by way of bf16: eleven bits hold eight.
    const bf16 b = to_bf16(v);
    v = to_float(b);
    s.half.push_back(type == DType::f16 ? float_to_half(v) : b.bits);
    if (type == DType::f16) v = half_to_float(s.half.back());
  }
  return s;
}

/// `values` as q8_0, with the largest of a block as 127 steps (steps of f16), and what that is exactly. The
/// number of values is a multiple of kQ8Block.
struct StoredBlocks {
  std::vector<uint8_t> bytes;
  std::vector<float> value;
};
inline StoredBlocks stored_q8_0(const std::vector<float>& values) {
  StoredBlocks s;
  for (size_t i = 0; i < values.size(); i += kQ8Block) {
    float largest = 0;
    for (size_t j = i; j < i + kQ8Block; ++j) largest = std::max(largest, std::fabs(values[j]));
    const uint16_t scale = float_to_half(largest / 127);
    s.bytes.insert(s.bytes.end(), {static_cast<uint8_t>(scale), static_cast<uint8_t>(scale >> 8)});
    for (size_t j = i; j < i + kQ8Block; ++j) {
      const float step = half_to_float(scale);
      const auto q =
          static_cast<int8_t>(step == 0 ? 0 : std::clamp(std::lround(values[j] / step), -127L, 127L));
      s.bytes.push_back(static_cast<uint8_t>(q));
      s.value.push_back(step * static_cast<float>(q));
    }
  }
  return s;
}

/// ln P(base j is b | the known bases before it) by brute force, each group with its own maximum. With no
/// known base these are the marginals.
inline std::vector<double> brute_force(const float* z, ops::KnownBases known = ops::kNoneKnown) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto logsumexp = [&](auto take) {
    double largest = -kInfinity, sum = 0;
    for (size_t i = 0; i < ops::kKmers; ++i)
      if (take(i)) largest = std::max(largest, static_cast<double>(z[i]));
    for (size_t i = 0; i < ops::kKmers; ++i)
      if (take(i)) sum += std::exp(static_cast<double>(z[i]) - largest);
    return largest + std::log(sum);
  };
  const auto letter = [](size_t kmer, size_t j) { return kmer / (size_t{1} << (2 * (5 - j))) % 4; };
  std::vector<double> out;
  for (size_t j = 0; j < 6; ++j) {
    const auto agrees = [&](size_t kmer) {
      for (size_t i = 0; i < j; ++i)
        if (ops::known_letter(known, i) < 4 && letter(kmer, i) != ops::known_letter(known, i)) return false;
      return true;
    };
    const double total = logsumexp(agrees);
    for (size_t b = 0; b < 4; ++b)
      out.push_back(logsumexp([&](size_t i) { return agrees(i) && letter(i, j) == b; }) - total);
  }
  return out;
}

/// The largest error of a marginal or conditional, for logits within `range` of each other. Every exponential
/// errs by 1.5 ulp of f32 and its argument by one rounding of |z - maximum|, and the logarithm of a sum of
/// them by as much, twice (group and total). A sum of such exponentials counts only from 1e-30 on. So its
/// largest term is within ln 1e30 + ln 4096 < 78 of the maximum, and the mean distance of its terms, weighted
/// by them, is at most ln 4096 more, < 86. Terms more than 87 below the maximum may lose 2^-149 each by
/// underflow. The last part is for 4,096 additions in double, twice.
inline double marginal_bound(double range) {
  const double underflow = range > 87 ? 2 * 4096 * 0x1p-149 / 1e-30 : 0;
  return 2 * (3 + std::min(range, 86.0)) * 0x1p-23 + underflow + 1e-12;
}

/// The letters of 6-mer `kmer` at the bases j whose bit is set in `which`.
inline ops::KnownBases letters_of(size_t kmer, unsigned which) {
  ops::KnownBases known = ops::kNoneKnown;
  for (size_t j = 0; j < 6; ++j)
    if (which >> j & 1) known = ops::with_letter(known, j, static_cast<uint32_t>(kmer >> (10 - 2 * j) & 3));
  return known;
}

/// Logits of which each base that differs from 6-mer `peak` takes `step`: a group that shares fewer letters
/// with it lies that much lower.
inline std::vector<float> stepped_logits(uint64_t seed, size_t peak, float step) {
  std::vector<float> z = Random(seed).vector(ops::kKmers, 12.0f);
  for (size_t i = 0; i < ops::kKmers; ++i)
    for (size_t j = 0; j < 6; ++j)
      if (((i ^ peak) >> 2 * j & 3) != 0) z[i] -= step;
  return z;
}

/// Rows of the residual stream, and what ops::Backend::final_norm() and sum_rows() make of them, by plain
/// loops.
class States {
 public:
  static constexpr size_t kRows = 70;
  static constexpr float kEps = 1e-6f;
  std::vector<float> x, weight, normed;

  explicit States(size_t width)
      : x(Random(width).vector(kRows * width, 30.0f)),
        weight(Random(width + 1).vector(width)),
        normed(x.size()),
        width_(width) {
    for (size_t i = 0; i < x.size(); i += width) {
      double squares = 0;
      for (size_t j = 0; j < width; ++j) squares += double{x[i + j]} * double{x[i + j]};
      const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + double{kEps});
      for (size_t j = 0; j < width; ++j)
        normed[i + j] = static_cast<float>(double{x[i + j]} * scale * double{weight[j]});
    }
  }
  /// All rows and their first ones, some rows, and the last one.
  static std::vector<ops::RowSums> rows() {
    static constexpr uint32_t kAll[] = {1, 9, 70}, kSome[] = {31}, kOne[] = {1};
    return {{0, kAll}, {3, kSome}, {kRows - 1, kOne}};
  }
  /// What sum_rows() gets: what the sums begin with, and NaN where results go.
  std::vector<double> before() const {
    std::vector<double> all;
    for (const ops::RowSums& r : rows()) {
      for (size_t j = 0; j < width_; ++j) all.push_back(1.0 / static_cast<double>(3 + j + all.size()));
      all.resize(all.size() + r.counts.size() * width_, std::numeric_limits<double>::quiet_NaN());
    }
    return all;
  }
  /// What it leaves there.
  std::vector<double> sums(bool norm) const {
    std::vector<double> all = before();
    double* at = all.data();
    for (const auto& [first_row, counts] : rows()) {
      size_t row = 0;
      for (const uint32_t count : counts) {
        std::copy_n(at, width_, at + width_);
        at += width_;
        for (; row < count; ++row)
          for (size_t j = 0; j < width_; ++j)
            at[j] += double{(norm ? normed : x)[(first_row + row) * width_ + j]};
      }
      at += width_;
    }
    return all;
  }

 private:
  size_t width_;
};

}  // namespace carbon::testing
