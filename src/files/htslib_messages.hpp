// The version of htslib, and what it says. It writes its messages to standard error and offers no other way
// to get them.
#pragma once

#include <functional>
#include <string>

namespace carbon {

/// The version of the loaded htslib, e.g. "1.16".
std::string htslib_version();
/// Sets which messages htslib prints, for a verbosity of carbon. Below level 4 it prints none, because carbon
/// reports its errors, with htslib_reason() where htslib knows more.
void set_htslib_verbosity(int level);

/// Why htslib cannot do what has just failed: its first error while `call` does that again, or "" if it gives
/// none. The call happens in a copy of the process, whose standard error is read here, so that other threads
/// keep theirs; it must take no lock and use nothing that the process shares with others but files that may
/// be written again.
std::string htslib_reason(const std::function<void()>& call);

}  // namespace carbon
