// What `carbon --version` prints.
#pragma once

#include <string>

namespace carbon {

/// "X.Y.Z (using htslib V)".
std::string version_summary();
/// First line exactly "carbon X.Y.Z"; then libraries, device kinds and the instruction set in use.
std::string version_text();

}  // namespace carbon
