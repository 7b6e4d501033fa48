// Text of a family with a token for each letter (docs/model.md, "Families"), as its tokenizer.json encodes
// it: the token that begins a sequence, one token for each character, and the closing token if the file has
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/hybrid.hpp"

namespace carbon {

/// The ids of a UTF-8 text. A, C, G and T in either case have ids of their own, and so have the names [UNK],
/// [BOS] and [EOS] (if there is one) in the text; every other character is [UNK] (U+0130, two characters in
/// lower case, twice). Other names of the vocabulary, such as [PAD], are read letter by letter. `layout` has
/// letters.
Encoding encode_letter_text(std::string_view text, const TokenLayout& layout);

/// The text of ids, letters in lower case. Ids that are neither letters nor one of those names are left out;
/// with `skip_special` the names are, too.
std::string decode_letter_text(const std::vector<uint32_t>& ids, bool skip_special,
                               const TokenLayout& layout);

}  // namespace carbon
