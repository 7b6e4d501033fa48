// The rotary table: cos and sin of position * inv_freq, computed in double and rounded once to f32.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/ops.hpp"

namespace carbon::cpu {

class RopeTable {
 public:
  /// Computes the table for positions [0, positions). If the parameters are those of the last call, only new
  /// positions are computed. Throws Error if the memory is not enough.
  void set(const ops::RopeParams& rope, size_t positions);

  size_t positions() const { return positions_; }
  size_t head_dim() const { return 2 * inv_freq_.size(); }
  const float* cos(size_t position) const { return cos_.data() + position * inv_freq_.size(); }
  const float* sin(size_t position) const { return sin_.data() + position * inv_freq_.size(); }

 private:
  std::vector<double> inv_freq_;
  double scale_ = 0;
  size_t positions_ = 0;
  std::vector<float> cos_, sin_;  // [positions, head_dim / 2]
};

}  // namespace carbon::cpu
