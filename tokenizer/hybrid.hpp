// tokenizer/: text comes in, and the ids of a model's vocabulary go out, or the other way. kmer has the ids
// of DNA, by the model's family (family); bpe has those of other text.
//
// Here is the tokenizer of a model. A Carbon's converts text with <dna>...</dna> regions to ids and back
// (docs/model.md, "DNA regions"); those of families with single tokens or a token for each letter are in
// token_text.hpp.
//
// Regions are split, stripped and upper-cased as Python's str does it on Unicode code points. DNA regions
// need no tokenizer files; text outside them needs a Bpe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

struct Encoding {
  std::vector<uint32_t> ids;
  /// One per id: -1 for text; 0 for <dna>, </dna>, <oov> and single tokens; the bases of a token for a
  /// full one, such as 6 for a 6-mer; and fewer, the number of bases without padding, for a padded last one.
  std::vector<int8_t> mask;
};

class HybridTokenizer {
 public:
  /// `bpe` may be null. Then text outside DNA regions is an Error, except the added tokens of the released
  /// model. Throws Error for a `bpe` that the family of the layout cannot use.
  HybridTokenizer(TokenLayout layout, std::shared_ptr<const Bpe> bpe);

  /// `text` is UTF-8. With auto_dna_tags a text without <dna> is treated as if it were inside <dna>...</dna>.
  /// Throws Error for text that cannot be encoded, with its byte offset, and for auto_dna_tags if the family
  /// has no such tags.
  Encoding encode(std::string_view text, bool auto_dna_tags = false) const;
  std::string decode(const std::vector<uint32_t>& ids, bool skip_special = false) const;
  const TokenLayout& layout() const { return layout_; }
  /// True if there is a Bpe.
  bool reads_text() const { return bpe_ != nullptr; }

 private:
  TokenLayout layout_;
  std::shared_ptr<const Bpe> bpe_;
};

}  // namespace carbon
