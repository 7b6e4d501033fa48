// 6-mers by index arithmetic: the DNA half of the Carbon tokenizer (docs/model.md, "Vocabulary" and
// "6-mers").
//
// The digits of bases are A=0, T=1, C=2, G=3, and the first base of a 6-mer is the most significant digit.
// Ids are computed, not looked up by text, because a text such as CCCCCC is also a BPE token. Knows no model
// and no text outside DNA.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

inline constexpr int kKmerLength = 6;
inline constexpr int kKmerCount = 4096;
/// The letters in digit order; also the column order of every marginal table.
inline constexpr char kBaseLetters[] = "ATCG";

/// Digit of a base, upper or lower case; -1 for anything but A, C, G, T.
int base_digit(char base);
/// The complement digit (A<->T, C<->G).
inline int complement_digit(int digit) {
  return digit ^ 1;
}

/// The ids of the DNA tokens in a vocabulary. They begin at `first` (dna_start_id of a checkpoint): <dna>,
/// </dna>, <oov>, then the 4,096 6-mers.
struct TokenLayout {
  uint32_t first = 151669;
  uint32_t vocab_size = 155776;

  uint32_t dna_begin() const { return first; }
  uint32_t dna_end() const { return first + 1; }
  uint32_t oov() const { return first + 2; }
  uint32_t kmer0() const { return first + 3; }
  uint32_t kmer_end() const { return kmer0() + kKmerCount; }
};

/// Index 0..4095 of six bases (any case), or -1 if one is not A, C, G or T.
int kmer_index(std::string_view six);
/// The six letters of an index. Throws Error unless 0 <= index < 4096.
std::string kmer_text(int index);

/// The token ids of a sequence that is cut into 6-mers from its beginning. A last piece of fewer than six
/// letters is padded with A at its end. A piece with a letter other than A, C, G or T (any case) becomes
/// <oov>.
std::vector<uint32_t> encode_kmers(std::string_view sequence, const TokenLayout& layout);

/// The letters in upper case.
std::string to_upper(std::string_view bases);
/// True if every letter is A, C, G or T, in either case, and there is one.
bool is_acgt(std::string_view bases);

/// The reverse complement, with IUPAC codes complemented too. Other letters, also U, and the case are kept.
std::string reverse_complement(std::string_view sequence);

}  // namespace carbon
