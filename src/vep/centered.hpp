// Recipe `centered`: the window around a variant with the reference and with each alternative allele, of
// equal length (docs/conventions.md, "Centered windows"; for an SNV away from contig ends the
// published window [p - 4096, p + 4096): docs/model.md, "Published evaluations").
//
// Pure functions; scoring is elsewhere.
#pragma once

#include <string>
#include <vector>

#include "src/vep/variant.hpp"

namespace carbon {

inline constexpr int64_t kDefaultCenteredWindow = 8192;  // bp

/// Sequences in reading direction of the strand. Each alternative is compared with the first |alternative|
/// bases of the reference window; it is shorter than the window only where the contig ends.
struct CenteredWindows {
  std::string reference;
  std::vector<std::string> alternatives;
};

/// Both windows need contig bases from here to there at most, for any allele of at most w/2 bases.
inline int64_t centered_begin(int64_t pos, int64_t window) {
  return pos - window;
}
inline int64_t centered_end(int64_t pos, int64_t window) {
  return pos + window;
}

/// True if an allele pair is too long for the window: max(|REF|, |ALT|) > w/2.
bool centered_too_long(const std::string& ref, const std::string& alt, int64_t window);

/// `alts` are A/C/G/T and not too long; `window` is even and at least 12; the slice holds [centered_begin,
/// centered_end).
CenteredWindows centered_windows(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                                 const ReferenceSlice& slice, int64_t window, Strand strand);

}  // namespace carbon
