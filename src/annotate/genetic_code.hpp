// Letters of DNA as numbers, and genetic codes by their number at the NCBI.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon {

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

}  // namespace carbon
