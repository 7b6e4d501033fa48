// Metadata tags that may stand before <dna>: the species and gene tags of the attested grammars, with the ids
// they have in the released vocabulary (carbon_model 1.7 and 6.3).
//
// Tags are ordinary text to the tokenizer. These few are built in so that they need no BPE files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// corpus: <species>NAME, of the pre-training corpus' card; card: <NAME>, of the model card; eval:
/// <NAME_species>, of the published evaluation code. Gene tags are the same in card and eval, and not
/// attested in corpus.
enum class TagGrammar { corpus, card, eval };

/// The text for a species and a gene type, of which one may be empty. Species go by their names in the corpus
/// (vertebrate_mammalian, vertebrate_other, fungi, plant, protozoa, invertebrate) in every grammar. Throws
/// Error listing the names for one that is unknown, and for a gene type in the corpus grammar.
std::string metadata_text(TagGrammar grammar, std::string_view species, std::string_view gene);

/// Ids in the released vocabulary of a text that is a known tag, or a species tag and a gene tag. Nothing for
/// other texts.
std::optional<std::vector<uint32_t>> known_tag_ids(std::string_view text);

}  // namespace carbon
