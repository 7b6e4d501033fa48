// The I-th of N contiguous shares of a run's work, for the tasks of a job array.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace carbon {

struct Shard {
  uint64_t index = 1, count = 1;  // 1 <= index <= count
};

/// Reads `I/N`. Throws Error.
Shard parse_shard(const std::string& text);
/// As parse_shard() reads it.
std::string shard_text(const Shard& shard);

/// Items [begin, end), counted from 0.
struct IndexRange {
  uint64_t begin = 0, end = std::numeric_limits<uint64_t>::max();
};

/// The sizes of shares differ by at most one item; the shares 1/N to N/N are all items in order.
IndexRange share_of(const Shard& shard, uint64_t items);

}  // namespace carbon
