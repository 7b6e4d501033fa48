// exp and ln that give the same bits on every machine.
//
// The functions of the C library differ in the last bit between versions and CPUs, and a sample drawn from a
// distribution must not depend on that bit. These use additions, multiplications and divisions of binary64 in
// a fixed order. The relative error is below 2^-51 in the ranges named below. They are constexpr so that
// device code can call them (nvcc allows that with --expt-relaxed-constexpr).
#pragma once

#include <bit>
#include <cstdint>

namespace carbon {

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
