// Recipe `centered`: windows of equal length around a variant, one with the reference and one with each
// alternative allele (docs/conventions.md, "Centered windows"). For an SNV away from the contig's ends it is
// the published window [p - 4096, p + 4096) (docs/model.md, "Published evaluations").
//
// The windows are pure functions; make_centered() is the recipe.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/vep/recipe.hpp"

namespace carbon {

/// Sequences in reading direction of the strand. Each alternative is compared with the first |alternative|
/// bases of the reference window. It is shorter than the reference window only near the end of the contig.
struct CenteredWindows {
  std::string reference;
  std::vector<std::string> alternatives;
};

/// The windows of both strands and all phases need contig bases [centered_begin, centered_end) at most, for
/// an allele at `pos` of at most w/2 bases.
inline int64_t centered_begin(int64_t pos, int64_t window) {
  return pos - window - kMostPhases;
}
inline int64_t centered_end(int64_t pos, int64_t window) {
  return pos + window + kMostPhases;
}

/// Alleles with the same value have the same reference window on a strand.
int64_t centered_place(const NormalAllele& allele, Strand strand);

/// False for a phase whose window would begin after the allele, which happens near the end of the contig
/// where the strand begins. Phase 0 always exists.
bool centered_has_phase(const NormalAllele& allele, int64_t contig_length, int64_t window, Strand strand,
                        int phase);

/// The alleles have letters A, C, G, T, the same centered_place() and the phase, and are not too long;
/// `slice` holds [centered_begin, centered_end) of each.
CenteredWindows centered_windows(std::span<const NormalAllele> alleles, const ReferenceSlice& slice,
                                 int64_t window, Strand strand, int phase);

/// Throws SettingError for a window that is not possible or does not fit the model.
std::unique_ptr<const Recipe> make_centered(const RecipeSettings& settings, const ModelConfig& config);
inline constexpr RecipeEntry kCentered{"centered", "LLR", "_TOKEN", make_centered};

}  // namespace carbon
