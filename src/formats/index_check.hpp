// Checks a .csi or .tbi index from its first byte to its last, because htslib trusts the counts in it: a cut
// or damaged index can end the program, or keep it busy for ever.
#pragma once

#include <string>

namespace carbon {

/// Checks the indices PATH.csi and PATH.tbi that exist as files on this machine. Throws Error, with
/// `function` as its function, if one is cut or damaged. Says nothing of whether an index belongs to the
/// file.
void check_indices(const std::string& path, const std::string& function);

}  // namespace carbon
