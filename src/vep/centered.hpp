// Recipe `centered`: windows of equal length around a variant, one with the reference and one with each
// alternative allele (docs/conventions.md, "Centered windows"). For an SNV away from the contig's ends it is
// the published window [p - 4096, p + 4096) (docs/model.md, "Published evaluations").
//
// Pure functions. Scoring is elsewhere.
#pragma once

#include <string>
#include <vector>

#include "src/vep/variant.hpp"

namespace carbon {

inline constexpr int64_t kDefaultCenteredWindow = 8192;  // bp

/// Sequences in reading direction of the strand. Each alternative is compared with the first |alternative|
/// bases of the reference window. It is shorter than the reference window only near the end of the contig.
struct CenteredWindows {
  std::string reference;
  std::vector<std::string> alternatives;
};

/// The windows of both strands need contig bases [centered_begin, centered_end) at most, for any alleles of
/// at most w/2 bases.
inline int64_t centered_begin(int64_t pos, int64_t window) {
  return pos - window;
}
inline int64_t centered_end(int64_t pos, int64_t window) {
  return pos + window;
}

/// True if an allele pair is too long for the window: max(|REF|, |ALT|) > w/2.
bool centered_too_long(const std::string& ref, const std::string& alt, int64_t window);

/// `alts` have letters A, C, G, T and are not too long; `window` (bp) is even and at least 12; `slice` holds
/// [centered_begin, centered_end).
CenteredWindows centered_windows(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                                 const ReferenceSlice& slice, int64_t window, Strand strand);

}  // namespace carbon
