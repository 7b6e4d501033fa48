// src/annotate/: carbon annotate: sequences of FASTA files come in, and the probability of every base to be
// coding, on each strand, goes out, or genes as GFF3, with their proteins. model_run makes windows of contigs
// and means of what a model says of them, run reads probabilities from tracks, decoder finds the best set of
// genes of a strand, genes makes calls of them or of runs of coding bases, which it cleans up as the makers
// of the models do, and outputs writes them.
//
// Here is what a gene is; letters of DNA as numbers, genetic codes by their number at the NCBI, and what of
// an unfinished codon a decoder has to remember.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

/// 0-based, half-open.
struct Interval {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

/// The coding part of a gene, in the coordinates of a strand in reading direction.
struct DecodedGene {
  std::vector<Interval> segments;  // ascending; the stop codon is part of the last one
  bool has_start = true, has_stop = true;
  int phase = 0;  // bases before the first whole codon; 0 with a start codon

  int64_t begin() const { return segments.front().begin; }
  int64_t end() const { return segments.back().end; }
  bool operator==(const DecodedGene&) const = default;
};

/// A, C, G and T in either case are 0 to 3, and every other letter is kOtherLetter.
inline constexpr uint8_t kOtherLetter = 4;
inline constexpr std::array<uint8_t, 256> kLetterNumbers = [] {
  std::array<uint8_t, 256> numbers{};
  numbers.fill(kOtherLetter);
  for (uint8_t i = 0; i < 4; ++i) {
    numbers[static_cast<unsigned char>("ACGT"[i])] = i;
    numbers[static_cast<unsigned char>("acgt"[i])] = i;
  }
  return numbers;
}();
inline uint8_t letter_number(char letter) {
  return kLetterNumbers[static_cast<unsigned char>(letter)];
}
inline uint8_t complement_number(uint8_t letter) {
  return letter == kOtherLetter ? letter : static_cast<uint8_t>(3 - letter);
}

/// Three letters as numbers.
using Codon = std::array<uint8_t, 3>;

class GeneticCode {
 public:
  /// Throws SettingError for a number that is none, and for a code whose stops may also stand for amino
  /// acids.
  explicit GeneticCode(int number);

  int number() const { return number_; }
  /// False for a codon with another letter than A, C, G and T.
  bool is_stop(const Codon& codon) const { return amino_acid(codon) == '*'; }
  /// X for a codon with another letter.
  char amino_acid(const Codon& codon) const;

 private:
  int number_;
  std::string_view amino_acids_;
};

/// Reads start codons with commas between them. Throws SettingError for a text that has none, for other
/// letters than A, C, G and T, and for a codon that is a stop of the code.
std::vector<Codon> parse_starts(const std::string& list, const GeneticCode& code);

/// Unfinished codons by what may follow them: two that a stop codon can complete in the same way need not be
/// told apart. So a decoder remembers an unfinished codon across an intron in a state or two.
struct StopClasses {
  static constexpr size_t kMost = 3;  // of one base, and of two, in every code of the NCBI
  static constexpr size_t kLetterNumbers = kOtherLetter + 1;

  explicit StopClasses(const GeneticCode& code) {
    std::vector<std::array<uint8_t, kLetterNumbers>> after_one;  // classes of two bases, by the second
    two_completions.push_back(0);                                // class 0 of two bases: no stop follows
    for (uint8_t first = 0; first < kLetterNumbers; ++first) {
      std::array<uint8_t, kLetterNumbers> twos{};
      for (uint8_t second = 0; second < kLetterNumbers; ++second) {
        uint8_t completions = 0;
        for (uint8_t third = 0; third < kOtherLetter; ++third)
          if (code.is_stop({first, second, third})) completions |= static_cast<uint8_t>(1 << third);
        twos[second] = number_of(completions, two_completions);
      }
      one_of[first] = number_of(twos, after_one);
    }
    ones = after_one.size();
    for (size_t one = 0; one < ones; ++one) two_of[one] = after_one[one];
  }

  bool completes_stop(size_t two, uint8_t letter) const {
    return letter != kOtherLetter && (two_completions[two] >> letter & 1) != 0;
  }
  size_t twos() const { return two_completions.size(); }

  size_t ones = 0;
  std::array<uint8_t, kLetterNumbers> one_of{};                     // by the base
  std::array<std::array<uint8_t, kLetterNumbers>, kMost> two_of{};  // by the class of one base, and the base
  std::vector<uint8_t> two_completions;                             // a bit for each letter

 private:
  template <class T>
  static uint8_t number_of(const T& item, std::vector<T>& items) {
    const auto at = std::find(items.begin(), items.end(), item) - items.begin();
    if (at == static_cast<std::ptrdiff_t>(items.size())) items.push_back(item);
    return static_cast<uint8_t>(at);
  }
};

}  // namespace carbon
