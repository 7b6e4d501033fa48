// The rotary table. See cpu_rope.hpp.
#include "kernels/cpu/cpu_rope.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/cpu/cpu_memory.hpp"
#include "src/base/error.hpp"

namespace carbon::cpu {

void RopeTable::set(const ops::RopeParams& rope, size_t positions) {
  const size_t half = rope.inv_freq.size();
  const bool same = scale_ == rope.scale && std::ranges::equal(inv_freq_, rope.inv_freq);
  const size_t known = same ? positions_ : 0;
  if (same && positions <= known) return;
  const size_t count = checked_product("set_rope", positions, half);
  try {
    cos_.resize(count);
    sin_.resize(count);
  } catch (const std::exception&) {
    positions_ = 0;
    throw Error("set_rope", "out of memory for the rotary table of " + std::to_string(positions) +
                                " positions; use a shorter context");
  }
  inv_freq_.assign(rope.inv_freq.begin(), rope.inv_freq.end());
  scale_ = rope.scale;
  positions_ = positions;
  for (size_t p = known; p < positions; ++p)
    for (size_t j = 0; j < half; ++j) {
      const double angle = static_cast<double>(p) * inv_freq_[j];
      cos_[p * half + j] = static_cast<float>(std::cos(angle) * scale_);
      sin_[p * half + j] = static_cast<float>(std::sin(angle) * scale_);
    }
}

}  // namespace carbon::cpu
