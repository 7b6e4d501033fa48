// Lines of a BED file that are no regions.
#pragma once

#include <string_view>

namespace carbon {

/// Whether `line` is one of UCSC's header lines: the word track or browser, and settings after a blank. A
/// contig may have one of these names too, or a longer one that begins so: a number follows it then.
inline bool is_bed_header(std::string_view line) {
  for (const std::string_view word : {"track", "browser"}) {
    if (!line.starts_with(word)) continue;
    const std::string_view rest = line.substr(word.size());
    const bool number = rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9';
    return rest.empty() || ((rest[0] == ' ' || rest[0] == '\t') && !number);
  }
  return false;
}

}  // namespace carbon
