// Names of inputs that are URLs.
#pragma once

#include <string>

namespace carbon {

/// Whether htslib reads the input from elsewhere, without a copy on this machine.
bool is_remote(const std::string& name);

/// Throws Error, in the name of `function`, for a URL of a kind that htslib here cannot read: one that is
/// built without libcurl, as in the portable archive, reads none. A file of that name on this machine is
/// none.
void check_url(const std::string& name, const std::string& function);

}  // namespace carbon
