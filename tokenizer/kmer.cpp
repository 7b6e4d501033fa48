// Index arithmetic of k-mers and reverse complement; see kmer.hpp. Knows no text but the letters A, C, G, T.
#include "tokenizer/kmer.hpp"

#include <algorithm>
#include <array>

#include "src/base/error.hpp"

namespace carbon {

namespace {

/// Pairs of letters that are each other's complement. U is not among them, because it is not a base of the
/// model: with A as its complement an unscored letter would become a scored base, and two reverse complements
/// would not give the sequence again.
constexpr std::string_view kComplementPairs[] = {"AT", "CG", "RY", "KM", "BV", "DH"};

constexpr std::array<char, 256> make_complement_table() {
  std::array<char, 256> table{};
  for (int i = 0; i < 256; ++i) table[i] = static_cast<char>(i);
  for (const std::string_view pair : kComplementPairs) {
    for (const char case_bit : {'\0', '\x20'}) {
      const char a = static_cast<char>(pair[0] | case_bit), b = static_cast<char>(pair[1] | case_bit);
      table[static_cast<unsigned char>(a)] = b;
      table[static_cast<unsigned char>(b)] = a;
    }
  }
  return table;
}

constexpr std::array<char, 256> kComplement = make_complement_table();

}  // namespace

int base_digit(char base) {
  switch (base) {
    case 'A':
    case 'a':
      return 0;
    case 'T':
    case 't':
      return 1;
    case 'C':
    case 'c':
      return 2;
    case 'G':
    case 'g':
      return 3;
    default:
      return -1;
  }
}

int kmer_index(std::string_view kmer, size_t length) {
  if (kmer.size() != length) return -1;
  int index = 0;
  for (const char base : kmer) {
    const int digit = base_digit(base);
    if (digit < 0) return -1;
    index = index * 4 + digit;
  }
  return index;
}

std::string kmer_text(size_t index, size_t length) {
  const size_t count = size_t{1} << 2 * length;
  if (index >= count)
    throw Error("kmer_text", "index " + std::to_string(index) + " of a " + std::to_string(length) +
                                 "-mer is outside 0.." + std::to_string(count - 1));
  std::string text(length, 'A');
  for (size_t p = length; p-- > 0; index >>= 2) text[p] = kBaseLetters[index & 3];
  return text;
}

std::vector<uint32_t> encode_kmers(std::string_view sequence, const TokenLayout& layout) {
  const size_t length = layout.bases();
  std::vector<uint32_t> ids;
  ids.reserve((sequence.size() + length - 1) / length);
  for (size_t begin = 0; begin < sequence.size(); begin += length) {
    const std::string_view chunk = sequence.substr(begin, length);
    int index = kmer_index(chunk, length);  // -1 also for a piece that is too short
    if (chunk.size() < length && layout.pads()) {
      std::string padded(chunk);
      padded.resize(length, 'A');
      index = kmer_index(padded, length);
    }
    ids.push_back(index < 0 ? layout.oov() : layout.kmer_id(static_cast<size_t>(index)));
  }
  return ids;
}

std::vector<uint32_t> sequence_tokens(std::string_view bases, const TokenLayout& layout) {
  const std::vector<uint32_t> kmers = encode_kmers(bases, layout);
  std::vector<uint32_t> tokens = layout.start();
  tokens.insert(tokens.end(), kmers.begin(), kmers.end());
  return tokens;
}

std::vector<uint32_t> window_tokens(std::string_view bases, const TokenLayout& layout) {
  // What the last piece would be makes no difference, so it is not looked at.
  const size_t length = layout.bases();
  return sequence_tokens(bases.substr(0, bases.empty() ? 0 : (bases.size() - 1) / length * length), layout);
}

bool is_acgt(std::string_view bases) {
  return !bases.empty() && bases.find_first_not_of("ACGTacgt") == std::string_view::npos;
}

std::string to_upper(std::string_view bases) {
  std::string out(bases);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::string reverse_complement(std::string_view sequence) {
  std::string result(sequence.rbegin(), sequence.rend());
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char letter) { return kComplement[static_cast<unsigned char>(letter)]; });
  return result;
}

}  // namespace carbon
