// k-mers by index arithmetic, and the tokens around them (docs/model.md, "Vocabulary", "6-mers" and
// "Families"). k is the number of bases of a token, which a family has; with six bases there are 4,096
// tokens.
//
// The digits of bases are A=0, T=1, C=2, G=3, and the first base of a k-mer is the most significant digit.
// Ids are computed, not looked up by text, because a text such as CCCCCC is also a BPE token. Knows no model
// and no text outside DNA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/family.hpp"

namespace carbon {

/// The letters in digit order; also the column order of every marginal table.
inline constexpr char kBaseLetters[] = "ATCG";
/// The digits of A, C, G and T: the order in which outputs have the letters.
inline constexpr size_t kOutputOrder[] = {0, 2, 3, 1};

/// Digit of a base, upper or lower case; -1 for anything but A, C, G, T.
int base_digit(char base);
/// The complement digit (A<->T, C<->G).
inline int complement_digit(int digit) {
  return digit ^ 1;
}

/// The ids of the tokens of a family with one base a token. They are those of the tokenizer.json of a
/// checkpoint, because vocabularies with and without [EOS] differ in them.
struct LetterVocabulary {
  uint32_t begin = 0;                 // [BOS], which begins every sequence
  uint32_t unknown = 0;               // [UNK], for every letter but A, C, G and T
  std::optional<uint32_t> end;        // [EOS], if the tokenizer closes a text with it; models read none
  std::array<uint32_t, 4> letters{};  // of A, T, C, G in either case, as kBaseLetters has them

  bool operator==(const LetterVocabulary&) const = default;
};

/// The tokens of DNA in a vocabulary, and how a sequence is put together from them. The DNA tokens of a
/// Carbon begin at `first`, the dna_start_id of a checkpoint; those of a GENERator at 0. A MarinDNA has
/// `letters`.
struct TokenLayout {
  uint32_t first = 151669;
  uint32_t vocab_size = 155776;
  const ModelFamily* family = &kCarbonFamily;  // never null
  /// Metadata that stands beside the bases of every sequence of a run; none, unless the user gives some.
  std::vector<uint32_t> prefix = {};
  /// The ids of a family of one base a token, which are those of its tokenizer file.
  std::optional<LetterVocabulary> letters = {};

  /// The token that begins a sequence; a sequence has it once.
  uint32_t begin() const { return letters ? letters->begin : first + family->begin; }
  bool has_separator() const { return !family->separator_tag.empty(); }
  /// The token after the last k-mer of a sequence whose state is to stand for all of it. Only with
  /// has_separator().
  uint32_t separator() const { return first + family->separator; }
  /// True for a token that a tokenizer may put after a sequence, and that does not belong to it.
  bool closes(uint32_t id) const {
    return letters ? letters->end == id : has_separator() && id == separator();
  }
  uint32_t oov() const { return letters ? letters->unknown : first + family->oov; }
  /// Bases of a token, and how many tokens that makes: their indices are 0 to kmers() - 1.
  size_t bases() const { return family->bases; }
  size_t kmers() const { return size_t{1} << 2 * bases(); }
  /// The ids of all k-mers are [kmer0(), kmer_end()), unless there are `letters`.
  uint32_t kmer0() const { return first + family->kmer0; }
  uint32_t kmer_end() const { return kmer0() + static_cast<uint32_t>(kmers()); }
  bool is_kmer(uint32_t id) const {
    return letters ? letter_of(id) < letters->letters.size() : id >= kmer0() && id < kmer_end();
  }
  /// The id of an index, and the index of an id for which is_kmer() is true.
  uint32_t kmer_id(size_t index) const {
    return letters ? letters->letters[index] : kmer0() + static_cast<uint32_t>(index);
  }
  uint32_t kmer_of(uint32_t id) const { return letters ? letter_of(id) : id - kmer0(); }
  /// How many tokens may follow those that fill the context: the row of its last position predicts one.
  size_t past_context() const { return family->predicts_past_context ? 1 : 0; }
  /// True if a last piece that is too short for a token is padded with A; otherwise it is <oov>.
  bool pads() const { return family->pads; }

  MetadataKind metadata() const {
    return family->metadata == MetadataKind::text && first == 0 ? MetadataKind::none : family->metadata;
  }
  /// True for the id of a token that may stand beside the bases.
  bool is_metadata(uint32_t id) const {
    return family->metadata == MetadataKind::text ? id < first
                                                  : id >= first + family->special && id < kmer0();
  }
  /// The tokens before the first k-mer of a sequence: the one that begins it, and the run's metadata.
  std::vector<uint32_t> start() const { return start(prefix); }
  /// How many tokens stand before the one whose row predicts the first k-mer.
  size_t lead() const { return prefix.size(); }
  /// start() with these ids of metadata instead of the run's.
  std::vector<uint32_t> start(const std::vector<uint32_t>& metadata) const {
    std::vector<uint32_t> tokens = metadata;
    tokens.insert(family->metadata_place == 0 ? tokens.end() : tokens.begin(), begin());
    return tokens;
  }
  /// True if metadata has the same ids in both.
  bool same_metadata(const TokenLayout& other) const {
    return family == other.family && first == other.first && vocab_size == other.vocab_size;
  }

 private:
  /// The digit of a letter's id, or 4.
  uint32_t letter_of(uint32_t id) const {
    uint32_t digit = 0;
    while (digit < letters->letters.size() && letters->letters[digit] != id) ++digit;
    return digit;
  }
};

/// The index of a k-mer (any case) among those of `length` bases, or -1 if it has another number of letters
/// or one that is not A, C, G or T.
int kmer_index(std::string_view kmer, size_t length);
/// The letters of an index among the k-mers of `length` bases. Throws Error for an index that none of them
/// has.
std::string kmer_text(size_t index, size_t length);

/// The token ids of a sequence that is cut into k-mers from its beginning. Of a last piece with too few
/// letters the layout says whether it is padded with A at its end or becomes <oov>. A piece with a letter
/// other than A, C, G or T (any case) becomes <oov>.
std::vector<uint32_t> encode_kmers(std::string_view sequence, const TokenLayout& layout);
/// What begins a sequence, and its k-mers: the row of the last of these predicts the k-mer that follows.
std::vector<uint32_t> sequence_tokens(std::string_view bases, const TokenLayout& layout);
/// The same without the last k-mer, whole or not, which is only predicted: row i, from layout.lead() on,
/// predicts k-mer i.
std::vector<uint32_t> window_tokens(std::string_view bases, const TokenLayout& layout);

/// The letters in upper case.
std::string to_upper(std::string_view bases);
/// True if every letter is A, C, G or T, in either case, and there is one.
bool is_acgt(std::string_view bases);

/// The reverse complement, with IUPAC codes complemented too. Other letters, also U, and the case are kept.
std::string reverse_complement(std::string_view sequence);

}  // namespace carbon
