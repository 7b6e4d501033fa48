// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as
// easy as 1, 2, 3").
//
// A pure function of key and counter, so that what is drawn for one place depends on nothing drawn before it.
#pragma once

#include <array>
#include <cstdint>

namespace carbon {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Ten rounds of Philox4x32 on `counter` under `key`: 128 bits that pass for random.
PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key);

/// A number in (0, 1) with 32 random bits: the middle of one of 2^32 equal intervals.
inline double uniform32(uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) * 0x1p-32;
}

/// A number in [0, 1) with 53 random bits.
inline double uniform53(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53;
}

}  // namespace carbon
