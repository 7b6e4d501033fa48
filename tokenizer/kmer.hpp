// 6-mers by index arithmetic: the DNA half of the Carbon tokenizer (carbon_model 1.1, 1.2).
//
// Base digits are A=0, T=1, C=2, G=3 and the first base of a 6-mer is the most significant digit; ids are
// computed, never looked up in a text map (the text CCCCCC is also a BPE token). Knows no model and no text.
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

/// Where the DNA tokens of a vocabulary lie. `first` is dna_start_id: <dna>, </dna>, <oov>, then the 4,096
/// 6-mers.
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
/// Writes the six letters of an index.
std::string kmer_text(int index);

/// Token ids of a sequence cut into 6-mers from the left; a chunk with another letter is <oov>; a trailing
/// chunk is padded with A on the right (an <oov> if one of its real letters is not a base). Any case.
std::vector<uint32_t> encode_kmers(std::string_view sequence, const TokenLayout& layout);

/// Reverse complement; letters other than A, C, G, T (any case) and the IUPAC codes are kept. Case is kept.
std::string reverse_complement(std::string_view sequence);

}  // namespace carbon
