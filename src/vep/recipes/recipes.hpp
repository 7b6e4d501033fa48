// The recipes, a part for each: where its windows lie and what stands in them, in pure functions, and how it
// is found and made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/vep/recipe.hpp"

namespace carbon {

// Recipe `centered`: windows of equal length around a variant, one with the reference and one with each
// alternative allele (docs/conventions.md, "Centered windows"). For an SNV away from the contig's ends it is
// the published window [p - 4096, p + 4096) (docs/model.md, "Published evaluations").

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
inline constexpr RecipeEntry kCentered{
    "centered", "LLR",
    [](std::string_view tag) { return tag == "LLR" || tag == "LLR_TOKEN" || tag == "L2" || tag == "JSD"; },
    make_centered};

// Recipe `next-token`: the bases before a variant. Their last row gives P_0, the probabilities of the next
// base (docs/conventions.md, "Next-token context"). Published for ClinVar with 24,000 bp (docs/model.md,
// "Published evaluations").

/// The contig range [next_token_begin, next_token_end) of the context of a one-base variant at `pos`.
inline int64_t next_token_begin(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos - context : pos + 1;
}
inline int64_t next_token_end(int64_t pos, int64_t context, Strand strand) {
  return strand == Strand::forward ? pos : pos + 1 + context;
}

/// The context in reading direction, without leading N's, and shortened from the left to whole tokens of
/// `bases` bases, of which there may be none.
std::string next_token_context(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand,
                               size_t bases);

/// Throws SettingError for a context that does not fit the model.
std::unique_ptr<const Recipe> make_next_token(const RecipeSettings& settings, const ModelConfig& config);
inline constexpr RecipeEntry kNextToken{"next-token", "NT", [](std::string_view tag) { return tag == "NT"; },
                                        make_next_token};

// Recipe `anchored`: windows on a grid of the contig, which neighbouring variants share
// (docs/conventions.md, "Anchored windows"). An allele is compared with the reference from its own 6-mer up
// to a horizon after it.
//
// The functions of the windows have the coordinates of a strand: those of the contig, or of its reverse
// complement.

/// The bases before a variant are between one and two contexts: as many as `centered` has on the left, or
/// more.
inline constexpr int64_t kDefaultAnchoredContext = 4098;  // bp

/// Translates a range between the coordinates of the contig and those of the strand, in either direction.
BaseRange mirrored(const BaseRange& range, int64_t contig_length, Strand strand);

/// The form in which an allele is compared on a strand, in the strand's coordinates: of all its spellings the
/// one that lies furthest along the reading direction, so that no horizon is spent on a repeat in which both
/// alleles are equal. `form` is the allele as normalise() gives it; `base(i)` is the contig's base at i.
NormalAllele strand_form(const NormalAllele& form, int64_t contig_length, Strand strand,
                         const std::function<char(int64_t)>& base);

/// Where the window of an allele begins, and the token from which on the alleles are compared.
struct AnchoredPlace {
  int64_t start = 0, first = 0;
};
/// `pos` is the first base of a strand_form(), `context` a multiple of `bases`, those of a token. Phase f
/// counts positions from base f of the strand on.
AnchoredPlace anchored_place(int64_t pos, int64_t context, int phase, size_t bases);
/// False for a phase that begins after the allele. Phase 0 always exists.
inline bool anchored_has_phase(int64_t pos, int phase) {
  return pos >= phase;
}

/// Where the window of `allele`, a strand_form(), ends: the horizon begins after the longer allele. It is not
/// clipped to the contig.
int64_t anchored_end(const NormalAllele& allele, int64_t horizon);
/// Where the bases end that the window of the alternative is made from.
int64_t anchored_bases_end(const NormalAllele& allele, int64_t horizon);

/// The bases from place.first on with the alternative, up to as many as the reference has there. `strand` has
/// the strand's bases up to anchored_bases_end(). It is shorter than the reference only at the end of the
/// contig.
std::string anchored_alternative(const NormalAllele& allele, const AnchoredPlace& place, int64_t horizon,
                                 const ReferenceSlice& strand);

/// The longest allele whose window fits a model of `max_positions` tokens of `bases` bases wherever it lies:
/// 1 or more, or less if not even an SNV fits.
int64_t anchored_longest(int64_t context, int64_t horizon, size_t max_positions, size_t bases);

/// Sites that follow one another in the input are to be planned together: alleles of one strand and phase
/// whose windows begin at one base get one request for the reference, as long as the farthest of them needs,
/// of which each runs only its suffix. For sorted input that is nearly all that can be shared. A window that
/// was left behind is not waited for, so that keys and values are not kept for long in unsorted input; a
/// later allele then gets a window of its own. No score depends on what is shared.
///
/// Throws SettingError for a context that is not possible, and for a context and horizons that do not fit the
/// model.
std::unique_ptr<const Recipe> make_anchored(const RecipeSettings& settings, const ModelConfig& config);
inline constexpr RecipeEntry kAnchored{
    "anchored", "ALLR",
    [](std::string_view tag) {
      if (tag == "ALLR") return true;
      const std::string_view horizon = tag.starts_with("ALLR_") ? tag.substr(5) : "";
      return !horizon.empty() && horizon.find_first_not_of("0123456789") == std::string_view::npos;
    },
    make_anchored};

// Recipe `head`: what a fine-tuned classification head makes of the windows of `centered`, alternative minus
// reference, for each label (docs/conventions.md, "Classification heads"). A window may have an odd number
// of bases, as published constructs have.

/// `settings.values` must be set. Throws SettingError for a window that is missing, not possible or does not
/// fit the model.
std::unique_ptr<const Recipe> make_head(const RecipeSettings& settings, const ModelConfig& config);
// Ranks of tags are no scores.
inline constexpr RecipeEntry kHeadRecipe{"head", "HEAD",
                                         [](std::string_view tag) {
                                           return tag.starts_with("HEAD_") && tag.size() > 5 &&
                                                  !tag.ends_with("_PHRED");
                                         },
                                         make_head};

}  // namespace carbon
