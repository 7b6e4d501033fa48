// Files of records and their indices before htslib reads them: opens such a file, and only that file, and
// checks a .csi or .tbi index from its first byte to its last, because htslib trusts the counts in it: a cut
// or damaged index can end the program, or keep it busy for ever. Only the source files of this room include
// it.
#pragma once

#include <htslib/hts.h>

#include <string>
#include <vector>

namespace carbon {

/// The file at `path` (a name, a URL, or "-" for standard input), to be read from its beginning; null, with
/// the reason in errno, if htslib cannot open it. htslib's own message about that is not printed.
///
/// hts_open() goes on where a file's contents send it: an answer of an htsget server names URLs, which may be
/// any file on this machine or any address, and is read as if it were what they contain. Who scores a file
/// from somebody else does not expect that. Throws Error from `function` for such a file, for a CRAM
/// file, and for text that begins with a byte-order mark; messages call it `shown`.
htsFile* open_records(const std::string& path, const std::string& shown, const std::string& function);

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
