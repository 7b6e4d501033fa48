// Unfinished codons by what may follow them: two that a stop codon can complete in the same way need not be
// told apart. So a decoder remembers an unfinished codon across an intron in a state or two.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "src/annotate/genetic_code.hpp"

namespace carbon {

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
