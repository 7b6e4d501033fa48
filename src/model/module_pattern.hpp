// The keys of alpha_pattern in adapter_config.json, which PEFT takes for regular expressions.
#pragma once

#include <functional>
#include <string>

namespace carbon {

/// Whether a module has the name that a key means: the whole name, or its end after a dot.
using ModulePattern = std::function<bool(const std::string& module)>;

/// What `key` means. Throws Error, which begins with `where`, for an expression that Python and C++ could
/// read differently, for one that is wrong, and for one of more than 300 characters.
ModulePattern module_pattern(const std::string& where, const std::string& key);

}  // namespace carbon
