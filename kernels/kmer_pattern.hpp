// Sets of 6-mers that have the same letters at some of their bases, for the heads. All functions are
// constexpr so that device code can call them (nvcc allows that with --expt-relaxed-constexpr).
#pragma once

#include "kernels/ops.hpp"

namespace carbon::ops {

/// The 6-mers k with (k & mask) == bits. Two bits of the mask belong to each base, and both are set or
/// neither.
struct KmerPattern {
  uint32_t mask = 0, bits = 0;  // all 6-mers

  constexpr bool has(uint32_t kmer) const { return (kmer & mask) == bits; }

  /// Those of this pattern whose base j is `letter`. The pattern may not speak of base j before.
  constexpr KmerPattern with(size_t j, uint32_t letter) const {
    const size_t shift = 2 * (kBases - 1 - j);
    return {mask | uint32_t{3} << shift, bits | letter << shift};
  }

  /// Calls f(prefix) for every beginning of j bases that a 6-mer of the pattern has, in ascending order.
  template <class F>
  constexpr void each_prefix(size_t j, F f) const {
    const size_t after = 2 * (kBases - j);
    const uint32_t free = ~(mask >> after) & ((uint32_t{1} << 2 * j) - 1);
    // Counts in the bits of `free` alone: the others are ones while 1 is added, so that a carry passes them.
    uint32_t counter = 0;
    do {
      f(bits >> after | counter);
      counter = ((counter | ~free) + 1) & free;
    } while (counter != 0);
  }
};

/// The 6-mers that begin as `known` says: that have the known letters among the first j bases.
constexpr KmerPattern known_before(KnownBases known, size_t j) {
  KmerPattern pattern;
  for (size_t i = 0; i < j; ++i)
    if (known_letter(known, i) < kLetters) pattern = pattern.with(i, known_letter(known, i));
  return pattern;
}

}  // namespace carbon::ops
