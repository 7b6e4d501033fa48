#include "tokenizer/letter_text.hpp"

#include <algorithm>
#include <utility>

#include "tokenizer/unicode.hpp"

namespace carbon {
namespace {

using Names = std::vector<std::pair<std::string_view, uint32_t>>;

Names special_names(const LetterVocabulary& letters) {
  Names names = {{"[UNK]", letters.unknown}, {"[BOS]", letters.begin}};
  if (letters.end) names.emplace_back("[EOS]", *letters.end);
  return names;
}

}  // namespace

Encoding encode_letter_text(std::string_view text, const TokenLayout& layout) {
  const LetterVocabulary& letters = *layout.letters;
  const Names names = special_names(letters);
  Encoding out;
  const auto append = [&](uint32_t id) {
    out.ids.push_back(id);
    out.mask.push_back(layout.is_kmer(id) ? 1 : 0);
  };
  append(letters.begin);
  for (size_t i = 0; i < text.size();) {
    const auto name = std::find_if(names.begin(), names.end(),
                                   [&](const auto& each) { return text.substr(i).starts_with(each.first); });
    if (name != names.end()) {
      append(name->second);
      i += name->first.size();
      continue;
    }
    const int digit = base_digit(text[i]);
    append(digit < 0 ? letters.unknown : letters.letters[static_cast<size_t>(digit)]);
    // The only character that is two in lower case.
    if (next_code_point(text, i) == U'\u0130') append(letters.unknown);
  }
  if (letters.end) append(*letters.end);
  return out;
}

std::string decode_letter_text(const std::vector<uint32_t>& ids, bool skip_special,
                               const TokenLayout& layout) {
  const Names names = special_names(*layout.letters);
  std::string text;
  for (const uint32_t id : ids) {
    if (layout.is_kmer(id)) text += "atcg"[layout.kmer_of(id)];
    for (const auto& [name, its_id] : names)
      if (id == its_id && !skip_special) text += name;
  }
  return text;
}

}  // namespace carbon
