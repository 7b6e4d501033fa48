// What a thread brings along besides its arguments, and what results must not depend on: how it rounds,
// whether it takes tiny numbers for zero, and how its language writes numbers. A host of the library may have
// changed any of these, and so may a plugin.
#pragma once

#include <cfenv>
#include <clocale>

namespace carbon {

/// While it exists, this thread has the floating-point environment that a program starts with (to nearest,
/// with subnormal numbers, without traps) and the locale C. Then it has its own again, without the exceptions
/// that were raised meanwhile. Stands where a thread begins to work for carbon: at the start of each of its
/// threads, in each function of libcarbon, and in each that a plugin calls.
class OwnEnvironment {
 public:
  OwnEnvironment();
  ~OwnEnvironment();
  OwnEnvironment(const OwnEnvironment&) = delete;
  OwnEnvironment& operator=(const OwnEnvironment&) = delete;

 private:
  std::fenv_t numbers_;
  locale_t locale_;
};

}  // namespace carbon
