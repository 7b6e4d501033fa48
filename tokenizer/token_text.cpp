// Single tokens and k-mers, or single letters, and back. See token_text.hpp.
#include "tokenizer/token_text.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "tokenizer/unicode.hpp"

namespace carbon {
namespace {

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

// The number of the single token with which the text begins, or -1. None of them is the beginning of another.
int token_at(std::string_view text, const ModelFamily& family) {
  if (!text.starts_with('<')) return -1;
  const auto token = std::find_if(family.tokens.begin(), family.tokens.end(),
                                  [&](std::string_view name) { return text.starts_with(name); });
  return token == family.tokens.end() ? -1 : static_cast<int>(token - family.tokens.begin());
}

std::string metadata_names(const ModelFamily& family) {
  std::string names;
  for (const std::string_view token : family.tokens.subspan(family.special))
    names += (names.empty() ? "" : " ") + std::string(token);
  return names;
}

using Names = std::vector<std::pair<std::string_view, uint32_t>>;

Names special_names(const LetterVocabulary& letters) {
  Names names = {{"[UNK]", letters.unknown}, {"[BOS]", letters.begin}};
  if (letters.end) names.emplace_back("[EOS]", *letters.end);
  return names;
}

}  // namespace

Encoding encode_token_text(std::string_view text, const TokenLayout& layout) {
  const ModelFamily& family = *layout.family;
  const size_t bases = layout.bases();
  Encoding out;
  const auto append = [&](uint32_t id) {
    out.ids.push_back(id);
    out.mask.push_back(layout.is_kmer(id) ? static_cast<int8_t>(bases) : 0);
  };
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (const int token = token_at(rest, family); token >= 0) {
      append(layout.first + static_cast<uint32_t>(token));
      i += family.tokens[static_cast<size_t>(token)].size();
      continue;
    }
    size_t letters = 0;
    while (letters < std::min(bases, rest.size()) && is_capital(rest[letters])) ++letters;
    const int kmer = kmer_index(rest.substr(0, letters), bases);
    append(kmer < 0 ? layout.oov() : layout.kmer_id(static_cast<size_t>(kmer)));
    if (letters > 0)
      i += letters;
    else
      next_code_point(text, i);
  }
  return out;
}

std::string decode_token_text(const std::vector<uint32_t>& ids, bool skip_special,
                              const TokenLayout& layout) {
  const ModelFamily& family = *layout.family;
  std::string text;
  for (uint32_t id : ids) {
    if (skip_special && id >= layout.first && id < layout.first + family.special) continue;
    if (layout.is_kmer(id))
      text += kmer_text(layout.kmer_of(id), layout.bases());
    else
      text += family.tokens[id >= layout.first && id < layout.kmer0() ? id - layout.first : family.oov];
  }
  return text;
}

std::vector<uint32_t> metadata_token_ids(std::string_view text, const TokenLayout& layout) {
  const ModelFamily& family = *layout.family;
  std::vector<uint32_t> ids;
  while (!text.empty()) {
    const int token = token_at(text, family);
    const auto id = layout.first + static_cast<uint32_t>(std::max(token, 0));
    if (token < 0 || !layout.is_metadata(id))
      throw Error("metadata",
                  "the metadata of the family " + std::string(family.name) +
                      " consists of single tokens, and '" + printable(text) +
                      "' does not begin with one of them: " + metadata_names(family),
                  {"correct {--prefix}"});
    ids.push_back(id);
    text.remove_prefix(family.tokens[static_cast<size_t>(token)].size());
  }
  return ids;
}

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

void check_no_dna_tags(bool asked, const TokenLayout& layout) {
  if (!asked) return;
  const ModelFamily& family = *layout.family;
  throw Error("tokenize",
              "a model of the family " + std::string(family.name) +
                  " has no <dna> tags to add: its whole text is DNA, and a sequence begins with " +
                  std::string(family.begin_tag),
              {"leave out {--auto-dna-tags}"});
}

}  // namespace carbon
