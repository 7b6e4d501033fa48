// For files that read or write JSON (mk/precompiled.mk).
#include "mk/precompiled/std.hpp"

#include <nlohmann/json.hpp>
