// The tokenizer files of a GENERator: tokenizer_config.json and vocab.txt, checked against the vocabulary
// that this program computes (docs/model.md, "Families").
//
// Nothing is read from them: ids follow from index arithmetic. But a model whose files say otherwise would
// get wrong ids without a word, so it is refused.
#pragma once

#include <string>

#include "tokenizer/kmer.hpp"

namespace carbon {

/// 4,128 tokens: 32 single ones, then the 6-mers.
TokenLayout generator_layout();

/// True if `dir` has a tokenizer_config.json whose tokenizer_class is DNAKmerTokenizer. Throws Error for a
/// file that is not JSON.
bool names_kmer_tokenizer(const std::string& dir);

/// Throws Error, which names file and line, unless the files that `dir` has are those of a GENERator:
/// tokenizer_config.json has tokenizer_class DNAKmerTokenizer and k 6; vocab.txt has the tokens in the order
/// of their ids, a line each, either alone or with a space and the id. Either file may be absent.
void check_kmer_tokenizer_files(const std::string& dir);

}  // namespace carbon
