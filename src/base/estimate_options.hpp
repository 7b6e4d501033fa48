// What a run is asked for that computes nothing but says how long it would take.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace carbon {

/// An estimate of a run, and shares of it.
struct EstimateOptions {
  bool wanted = false;
  double limit = 0;  // seconds that a share may take; 0: no shares are proposed
  std::function<std::string(uint64_t shares)> share_command = {};  // the command of share $I of so many
};

}  // namespace carbon
