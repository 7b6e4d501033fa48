// Random numbers, and the exp and ln by which samples are drawn with them: the same bits on every machine, on
// host and device. All is constexpr so that device code can call it (nvcc allows that with
// --expt-relaxed-constexpr).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace carbon {

// A counter-based random number generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random
// numbers: as easy as 1, 2, 3"). The numbers are a pure function of key and counter, so a sample does not
// depend on samples drawn before it.

using PhiloxBlock = std::array<uint32_t, 4>;

/// Ten rounds of Philox4x32 on `counter` under `key`: 128 pseudo-random bits.
constexpr PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  // Multipliers and key increments from table 2 of the paper (the increments are the golden ratio and
  // sqrt(3) - 1).
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kIncrement0 = 0x9E3779B9, kIncrement1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = kMultiplier0 * counter[0], b = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += kIncrement0;
    key[1] += kIncrement1;
  }
  return counter;
}

/// A number in (0, 1) from 32 random bits: the middle of one of 2^32 equal intervals.
constexpr double uniform32(uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) * 0x1p-32;
}

/// A number in [0, 1) from 64 random bits, of which 53 are used.
constexpr double uniform53(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

// exp and ln. The functions of the C library differ in the last bit between versions and CPUs, and a sample
// drawn from a distribution must not depend on that bit. These use additions, multiplications and divisions
// of binary64 in a fixed order. The relative error is below 2^-51 in the ranges named below.

/// e^x for x <= 0. Returns 0 for x below -708, where the result would be subnormal, and for NaN.
constexpr double exact_exp(double x) {
  if (!(x >= -708.0)) return 0.0;
  // Round x / ln 2 to an integer by adding 1.5 * 2^52.
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  // ln 2 is split in two parts. The first has 32 bits, so its product with n is exact.
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  // Taylor series. With |r| <= 0.3466 the first omitted term is at most 4e-18.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = (p * r) * r + r + 1.0;
  const auto exponent = static_cast<int64_t>(n);
  return p * std::bit_cast<double>((exponent + 1023) << 52);
}

/// ln x for a normal x > 0.
constexpr double exact_log(double x) {
  const auto bits = std::bit_cast<int64_t>(x);
  // Split x into a power of two and a mantissa m in [sqrt(1/2), sqrt(2)).
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const int64_t exponent = (bits - kSqrtHalf) >> 52;
  const double m = std::bit_cast<double>(bits - exponent * (int64_t{1} << 52));
  // ln m = 2 artanh s. With |s| <= 0.1716 the first omitted term is at most 2e-19.
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 23.0;
  p = p * q + 1.0 / 21.0;
  p = p * q + 1.0 / 19.0;
  p = p * q + 1.0 / 17.0;
  p = p * q + 1.0 / 15.0;
  p = p * q + 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  const double k = static_cast<double>(exponent);
  return k * 0x1.62e42feep-1 + (k * 0x1.a39ef35793c76p-33 + ((2.0 * s) * (p * q) + 2.0 * s));
}

}  // namespace carbon
