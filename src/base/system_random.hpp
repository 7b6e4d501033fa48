// Random bits from the system, for what must differ from run to run. What has to be repeated is in
// random.hpp.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "src/base/error.hpp"

namespace carbon {

/// Asks the kernel, and opens no file: std::random_device of some C++ libraries needs /dev/urandom, which a
/// container may lack. Throws Error if the kernel has none.
inline uint64_t system_random() {
  uint64_t bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0)
    throw Error("random", std::string("the system gives no random numbers: ") + std::strerror(errno));
  return bits;
}

}  // namespace carbon
