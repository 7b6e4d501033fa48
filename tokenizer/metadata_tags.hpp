// Metadata tags: the names of species and gene types, and how each family writes them (docs/model.md,
// "Metadata tags" and "Families").
//
// To the tokenizer of a Carbon, tags are ordinary text. These few are built in, with the ids they have in the
// released vocabulary, so that they need no BPE files. A GENERator has single tokens for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/words.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// How tags are written. corpus: <species>NAME, as in the description of the pre-training corpus. card:
/// <NAME>, as in the model card. eval: <NAME_species>, as in the published evaluation code. Gene tags are the
/// same in card and eval; none are known for corpus.
enum class TagGrammar { corpus, card, eval };
inline constexpr Word<TagGrammar> kTagGrammarWords[] = {
    {"corpus", TagGrammar::corpus}, {"card", TagGrammar::card}, {"eval", TagGrammar::eval}};

/// What a sequence is said to be. Either name may be empty. `species` is a name of Carbon's corpus
/// (vertebrate_mammalian, vertebrate_other, fungi, plant, protozoa, invertebrate) in every grammar and
/// family.
struct MetadataNames {
  std::string species, gene;
  std::optional<TagGrammar> grammar;  // none: corpus
};

/// Throws Error for an unknown name, with a list of the known ones.
void check_metadata_names(const MetadataNames& names);

/// The metadata text of the names for a model, "" for none. Throws Error for an unknown name, for a gene type
/// in the corpus grammar, and for what the family of the model lacks: a grammar where metadata is single
/// tokens, and a gene type that has no token.
std::string metadata_text(const TokenLayout& layout, const MetadataNames& names);

/// The ids in the released vocabulary of a text that is one known tag, or a species tag followed by a gene
/// tag. Nothing for other texts.
std::optional<std::vector<uint32_t>> known_tag_ids(std::string_view text);

}  // namespace carbon
