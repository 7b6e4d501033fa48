// For the unit tests (mk/precompiled.mk).
#include "mk/precompiled/std.hpp"

#include <doctest/doctest.h>

#include <random>
