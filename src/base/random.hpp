// A counter-based random number generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random
// numbers: as easy as 1, 2, 3").
//
// The numbers are a pure function of key and counter, so a sample does not depend on samples drawn before it.
// The functions are constexpr so that device code can call them (nvcc allows that with
// --expt-relaxed-constexpr).
#pragma once

#include <array>
#include <cstdint>

namespace carbon {

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

}  // namespace carbon
