// The hybrid tokenizer: text with <dna>...</dna> regions to ids and back (carbon_model 1.2-1.5).
//
// Region splitting, stripping and upper-casing follow Python's str on Unicode code points. DNA regions need
// no files; text outside them needs a Bpe, and without one a clear Error says so.
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
  /// One per id: -1 text; 0 <dna>, </dna>, <oov>; 1..5 real bases of a padded last 6-mer; 6 a full 6-mer.
  std::vector<int8_t> mask;
};

class HybridTokenizer {
 public:
  HybridTokenizer(TokenLayout layout, std::shared_ptr<const Bpe> bpe);

  /// `text` is UTF-8. auto_dna_tags wraps a text without a literal <dna> in <dna>...</dna>.
  Encoding encode(std::string_view text, bool auto_dna_tags = false) const;
  std::string decode(const std::vector<uint32_t>& ids, bool skip_special = false) const;
  const TokenLayout& layout() const { return layout_; }

 private:
  TokenLayout layout_;
  std::shared_ptr<const Bpe> bpe_;
};

}  // namespace carbon
