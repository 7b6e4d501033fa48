// Metadata tags that may stand before <dna>: the species and gene tags of the attested grammars, with the ids
// they have in the released vocabulary (docs/model.md, "Metadata tags").
//
// Tags are ordinary text to the tokenizer. These few are built in so that they need no BPE files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// How tags are written. corpus: <species>NAME, as in the description of the pre-training corpus. card:
/// <NAME>, as in the model card. eval: <NAME_species>, as in the published evaluation code. Gene tags are the
/// same in card and eval; none are known for corpus.
enum class TagGrammar { corpus, card, eval };

/// The text of the tags for a species and a gene type; either may be empty. In every grammar `species` is a
/// name of the corpus (vertebrate_mammalian, vertebrate_other, fungi, plant, protozoa, invertebrate). Throws
/// Error for an unknown name, with a list of the known ones, and for a gene type in the corpus grammar.
std::string metadata_text(TagGrammar grammar, std::string_view species, std::string_view gene);

/// The ids in the released vocabulary of a text that is one known tag, or a species tag followed by a gene
/// tag. Nothing for other texts.
std::optional<std::vector<uint32_t>> known_tag_ids(std::string_view text);

}  // namespace carbon
