// The files of a checkpoint that say which ids its tokens of DNA have (docs/model.md, "Families"):
// tokenizer.json of a MarinDNA, from which they are read; tokenizer_config.json and vocab.txt of a GENERator,
// which are checked against the vocabulary that this program computes; and the dna_config.json that a Carbon
// may need, as `carbon models --skeleton` writes it.
//
// Nothing is read from the files of a GENERator: ids follow from index arithmetic. But a model whose files
// say otherwise would get wrong ids without a word, so it is refused.
#pragma once

#include <cstdint>
#include <string>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// Reads the tokenizer.json at `path`, of a MarinDNA with `vocab_size` tokens: a word-level vocabulary of
/// single letters, which the `tokenizers` library of Hugging Face wrote. Throws Error, which names the file
/// and what is wrong with it, unless it has the letters a, c, g and t, [BOS] and [UNK] with different ids
/// below `vocab_size`, no other letter, folds the case, and begins a text with [BOS].
LetterVocabulary read_letter_vocabulary(const std::string& path, uint64_t vocab_size);

/// A GENERator: 4,128 tokens, 32 single ones, then the 6-mers.
TokenLayout generator_layout();

/// True if `dir` has a tokenizer_config.json whose tokenizer_class is DNAKmerTokenizer. Throws Error for a
/// file that is not JSON.
bool names_kmer_tokenizer(const std::string& dir);

/// Throws Error, which names file and line, unless the files that `dir` has are those of a GENERator:
/// tokenizer_config.json has tokenizer_class DNAKmerTokenizer and k 6; vocab.txt has the tokens in the order
/// of their ids, a line each, either alone or with a space and the id. Either file may be absent.
void check_kmer_tokenizer_files(const std::string& dir);

struct DnaConfigSkeleton {
  std::string text;        // of the file
  std::string what_to_do;  // for a message that says that it was written
};

/// The file for the checkpoint in `dir`. dna_start_id is the id of <dna> in tokenizer.json or
/// added_tokens.json, or else null, with which the model cannot be opened. Throws Error if there is no
/// config.json, if there is a dna_config.json, for a model that is read without one, and for a damaged file
/// of the tokenizer.
DnaConfigSkeleton dna_config_skeleton(const std::string& dir);

}  // namespace carbon
