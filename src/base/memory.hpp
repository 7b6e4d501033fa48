// How much more memory this process may use.
#pragma once

#include <cstdint>
#include <limits>

namespace carbon {

/// The answer where nothing is known.
inline constexpr uint64_t kUnknownMemory = std::numeric_limits<uint64_t>::max();

/// Bytes: the kernel's estimate of available memory, or what the limits of the control groups leave if that
/// is less.
uint64_t available_memory();

}  // namespace carbon
