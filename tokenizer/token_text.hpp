// Text of the families whose whole text is DNA and single tokens (docs/model.md, "Families"): the tokenizer
// of GENERator, by index arithmetic, with tokens such as <s> and <mam>, and that of MarinDNA, with a token
// for each letter.
//
// There are no regions and no BPE, so every text has ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hybrid.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The ids of a text in valid UTF-8, of a GENERator. Only capital letters are read together: this is the
/// tokenizer alone, and commands that read FASTA make bases upper case before they come here. At each place a
/// single token is taken if the text has one there, else up to six capital letters A to Z, else one
/// character. Letters that are no 6-mer and other characters are <oov>. Adds no token of its own.
Encoding encode_token_text(std::string_view text, const TokenLayout& layout);

/// The text of ids, one after the other. An id outside of the vocabulary is <oov>. `skip_special` leaves out
/// the tokenizer's own tokens, <oov> among them, but not those that describe a sequence.
std::string decode_token_text(const std::vector<uint32_t>& ids, bool skip_special, const TokenLayout& layout);

/// The ids of a text that consists of tokens which may describe a sequence, such as <mam><cds>. Throws Error,
/// which lists them, for any other text.
std::vector<uint32_t> metadata_token_ids(std::string_view text, const TokenLayout& layout);

/// The ids of a UTF-8 text for a `layout` with letters, as its tokenizer.json encodes it: the token that
/// begins a sequence, one token for each character, and the closing token if the file has one. A, C, G and T
/// in either case have ids of their own, and so have the names [UNK], [BOS] and [EOS] (if there is one) in
/// the text; every other character is [UNK] (U+0130, two characters in lower case, twice). Other names of the
/// vocabulary, such as [PAD], are read letter by letter.
Encoding encode_letter_text(std::string_view text, const TokenLayout& layout);

/// The text of ids, letters in lower case. Ids that are neither letters nor one of those names are left out;
/// with `skip_special` the names are, too.
std::string decode_letter_text(const std::vector<uint32_t>& ids, bool skip_special,
                               const TokenLayout& layout);

/// Throws Error if tags are asked for, because the family has none.
void check_no_dna_tags(bool asked, const TokenLayout& layout);

}  // namespace carbon
