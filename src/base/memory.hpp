// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <limits>

namespace carbon {

/// Said where nothing is known.
inline constexpr uint64_t kUnknownMemory = std::numeric_limits<uint64_t>::max();

/// Bytes: what the kernel holds to be available, capped by what the limits of the control groups leave.
uint64_t available_memory();

}  // namespace carbon
