// Prompts as clients send them: text or token ids, one or several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/verbs/fields.hpp"
#include "src/verbs/generate.hpp"

namespace carbon {

/// Takes a text apart: metadata, <dna>, bases, and at the end an optional </dna>, which is left out. White
/// space between bases is dropped. If the server adds tags, a text without <dna> is all bases. Where metadata
/// is single tokens, they stand before the bases, and <s> before them may be left out. Throws ApiError, which
/// names `field`, for a text without <dna>, for more than one DNA region or <s>, for <dna> where the family
/// has none, and for bases that checked_bases() refuses. `fields` keep its note.
DnaText split_dna_text(const Fields& fields, std::string_view text, const std::string& field,
                       const ServedModel& served);

/// The prompts of a field: a string, a list of strings, a list of ids, or a list of lists of ids.
std::vector<SentPrompt> read_prompts(const Fields& fields, const std::string& name, const ServedModel& served,
                                     size_t most);

/// Its bases; of ids, a k-mer that is not one of A, C, G and T is N, k times.
std::string bases_of(const SentPrompt& prompt, const TokenLayout& layout);

}  // namespace carbon
