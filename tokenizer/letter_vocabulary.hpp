// The tokens of a model with one token for each base, from the tokenizer.json of its checkpoint
// (docs/model.md, "Families"): a word-level vocabulary of single letters, which the `tokenizers` library of
// Hugging Face wrote.
//
// Ids are those of the file, because vocabularies with and without [EOS] differ in them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace carbon {

struct LetterVocabulary {
  uint32_t begin = 0;                 // [BOS], which begins every sequence
  uint32_t unknown = 0;               // [UNK], for every letter but A, C, G and T
  std::optional<uint32_t> end;        // [EOS], if the tokenizer closes a text with it; models read none
  std::array<uint32_t, 4> letters{};  // of A, T, C, G in either case, as kBaseLetters (kmer.hpp) has them

  bool operator==(const LetterVocabulary&) const = default;
};

/// Reads the file at `path`, of a model with `vocab_size` tokens. Throws Error, which names the file and what
/// is wrong with it, unless it has the letters a, c, g and t, [BOS] and [UNK] with different ids below
/// `vocab_size`, no other letter, folds the case, and begins a text with [BOS].
LetterVocabulary read_letter_vocabulary(const std::string& path, uint64_t vocab_size);

}  // namespace carbon
