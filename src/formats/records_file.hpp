// Opens a file of records for htslib, and only that file. Only the source files of this room include it.
#pragma once

#include <htslib/hts.h>

#include <string>

namespace carbon {

/// The file at `path` (a name, a URL, or "-" for standard input), to be read from its beginning; null, with
/// the reason in errno, if htslib cannot open it. htslib's own message about that is not printed.
///
/// hts_open() goes on where a file's contents send it: an answer of an htsget server names URLs, which may be
/// any file on this machine or any address, and is read as if it were what they contain. Who scores a file
/// from somebody else does not expect that. Throws Error from `function` for such a file, for a CRAM
/// file, and for text that begins with a byte-order mark; messages call it `shown`.
htsFile* open_records(const std::string& path, const std::string& shown, const std::string& function);

}  // namespace carbon
