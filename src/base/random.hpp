// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as
// easy as 1, 2, 3").
//
// A pure function of key and counter, so that what is drawn for one place depends on nothing drawn before it.
// constexpr, so that device code may call it (nvcc's --expt-relaxed-constexpr).
#pragma once

#include <array>
#include <cstdint>

namespace carbon {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Ten rounds of Philox4x32 on `counter` under `key`: 128 bits that pass for random.
constexpr PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  // Multipliers and key increments of the paper's table 2 (the increments are the golden ratio and sqrt(3) -
  // 1).
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

/// A number in (0, 1) with 32 random bits: the middle of one of 2^32 equal intervals.
constexpr double uniform32(uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) * 0x1p-32;
}

/// A number in [0, 1) with 53 random bits.
constexpr double uniform53(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

}  // namespace carbon
