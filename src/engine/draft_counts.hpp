// What speculative decoding has done so far.
#pragma once

#include <cstdint>

namespace carbon {

struct DraftCounts {
  uint64_t rounds = 0, steps = 0, drafted = 0, tested = 0, accepted = 0;
  double draft_seconds = 0, target_seconds = 0;

  DraftCounts& operator+=(const DraftCounts& other);
};

}  // namespace carbon
