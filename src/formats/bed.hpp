// Lines of BED files that are no regions, for everybody who reads such files: plugins as well, so that it
// stands alone.
#pragma once

#include <optional>
#include <string_view>

namespace carbon {

/// What follows the word track or browser, with which UCSC's header lines begin; empty if that is the whole
/// line. None if the line begins with something else, such as a longer word.
inline std::optional<std::string_view> after_header_word(std::string_view line) {
  for (const std::string_view word : {"track", "browser"}) {
    if (!line.starts_with(word)) continue;
    const std::string_view rest = line.substr(word.size());
    if (rest.empty() || rest[0] == ' ' || rest[0] == '\t') return rest;
  }
  return std::nullopt;
}

/// Whether a line of BED is one of UCSC's header lines. A contig may be called track, too: a number follows
/// it then, and never one of these words.
inline bool is_bed_header(std::string_view line) {
  const std::optional<std::string_view> rest = after_header_word(line);
  return rest && !(rest->size() > 1 && (*rest)[1] >= '0' && (*rest)[1] <= '9');
}

}  // namespace carbon
