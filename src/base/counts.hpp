// Counts of things in messages.
#pragma once

#include <cstdint>
#include <string>

namespace carbon {

/// "1 base", "2 bases"; `ending` is that of the plural.
inline std::string count_of(uint64_t count, const std::string& one, const std::string& ending = "s") {
  return std::to_string(count) + " " + one + (count == 1 ? "" : ending);
}

}  // namespace carbon
