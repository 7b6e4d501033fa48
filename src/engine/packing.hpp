// The rule by which tokens are packed into passes: sequences in order, each with as many of its tokens as
// there is room for. A sequence that does not fit continues in the next pass, so that every pass but the last
// is full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace carbon {

/// The next `tokens` tokens of entry `index` of the list that was packed.
struct Piece {
  size_t index = 0, tokens = 0;
};

/// Packs one pass of at most `limit` rows from sequences that have `remaining` tokens each.
inline std::vector<Piece> fill_pass(std::span<const size_t> remaining, size_t limit) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < remaining.size() && limit > 0; ++i) {
    const size_t tokens = std::min(remaining[i], limit);
    if (tokens > 0) pieces.push_back({i, tokens});
    limit -= tokens;
  }
  return pieces;
}

}  // namespace carbon
