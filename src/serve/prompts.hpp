// Prompts as clients send them: text or token ids, one or several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/generate/options.hpp"
#include "src/generate/prompt.hpp"
#include "src/serve/fields.hpp"
#include "src/serve/served_model.hpp"

namespace carbon {

/// Metadata, and the bases.
struct DnaText {
  std::string metadata;
  std::string bases;
};

/// A text, or the ids of one.
using SentPrompt = std::variant<DnaText, std::vector<uint32_t>>;

/// Takes a text apart: metadata, <dna>, bases, and at the end an optional </dna>, which is left out. White
/// space between bases is dropped. If the server adds tags, a text without <dna> is all bases. Where metadata
/// is single tokens, they stand before the bases, and <s> before them may be left out. Throws ApiError, which
/// names `field`, for a text without <dna>, for more than one DNA region or <s>, for <dna> where the family
/// has none, and for bases that checked_bases() refuses. `fields` keep its note.
DnaText split_dna_text(const Fields& fields, std::string_view text, const std::string& field,
                       const ServedModel& served);

/// The bases of a sequence without tags, which the commands would read in the same way: U becomes T, and
/// `fields` keep a note of it. Throws ApiError, which names `field`, for what is not a letter, with its
/// place, and for a protein.
std::string checked_bases(const Fields& fields, std::string_view text, const std::string& field);

/// The prompts of a field: a string, a list of strings, a list of ids, or a list of lists of ids.
std::vector<SentPrompt> read_prompts(const Fields& fields, const std::string& name, const ServedModel& served,
                                     size_t most);

/// Its bases; of ids, a k-mer that is not one of A, C, G and T is N, k times.
std::string bases_of(const SentPrompt& prompt, const TokenLayout& layout);

/// The model's configuration with the metadata of the text, for planners of its bases.
ModelConfig config_for(const DnaText& text, const ServedModel& served);

/// A prompt that is to be continued with the options' number of new bases. Of several prompts, `record` is
/// the number from 0, as of records in a FASTA.
Prompt plan_prompt(const ServedModel& served, const SentPrompt& prompt, uint64_t record,
                   const GenerateOptions& options);

}  // namespace carbon
