// Checks a .csi or .tbi index from its first byte to its last, because htslib trusts the counts in it: a cut
// or damaged index can end the program, or keep it busy for ever.
#pragma once

#include <string>
#include <vector>

struct BGZF;

namespace carbon {

/// The indices PATH.csi and PATH.tbi, or that of FILE##idx##INDEX, that are files on this machine: first the
/// one that htslib uses.
std::vector<std::string> local_indices(const std::string& path);

/// Checks all of them. Throws Error, with `function` as its function, if one is cut or damaged. Says nothing
/// of whether an index belongs to the file.
void check_indices(const std::string& path, const std::string& function);

/// Throws Error if records of the file, which is open as BGZF, follow the last one of the index that htslib
/// uses, as in an index that was built when the file was shorter. Moves the place in the file.
void check_index_reaches_end(const std::string& path, BGZF* file, const std::string& function);

/// Throws Error if a BGZF file lacks its end-of-file marker, which those who jump by an index would not
/// notice.
void check_bgzf_end(const std::string& path, BGZF* file, const std::string& function);

}  // namespace carbon
