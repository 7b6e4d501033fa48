#include "src/util/random.hpp"

namespace carbon {

PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
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

}  // namespace carbon
