#include "src/annotate/gene.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

// The amino acids of the codons in the order of the NCBI, TTT, TTC, TTA, TTG, TCT, ..., GGG.
constexpr std::pair<int, std::string_view> kCodes[] = {
    {1, "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {2, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSS**VVVVAAAADDEEGGGG"},
    {3, "FFLLSSSSYY**CCWWTTTTPPPPHHQQRRRRIIMMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {4, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {5, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSSSVVVVAAAADDEEGGGG"},
    {6, "FFLLSSSSYYQQCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {9, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG"},
    {10, "FFLLSSSSYY**CCCWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {11, "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {12, "FFLLSSSSYY**CC*WLLLSPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {13, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSGGVVVVAAAADDEEGGGG"},
    {14, "FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG"},
    {15, "FFLLSSSSYY*QCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {16, "FFLLSSSSYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {21, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNNKSSSSVVVVAAAADDEEGGGG"},
    {22, "FFLLSS*SYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {23, "FF*LSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {24, "FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG"},
    {25, "FFLLSSSSYY**CCGWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {26, "FFLLSSSSYY**CC*WLLLAPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {29, "FFLLSSSSYYYYCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {30, "FFLLSSSSYYEECC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {32, "FFLLSSSSYY*WCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"},
    {33, "FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG"}};

// Of A, C, G and T in that order.
constexpr size_t kPlaces[] = {2, 1, 3, 0};

}  // namespace

GeneticCode::GeneticCode(int number) : number_(number) {
  const auto* const found = std::find_if(std::begin(kCodes), std::end(kCodes),
                                         [&](const auto& known) { return known.first == number; });
  if (found == std::end(kCodes)) {
    const bool ambiguous = number == 27 || number == 28 || number == 31;
    throw SettingError(
        "annotate", "code",
        "code " + std::to_string(number) +
            (ambiguous ? " has stop codons that also stand for amino acids, so no frame has an end in it"
                       : " is not a genetic code of the NCBI") +
            "; expected 1 to 6, 9 to 16, 21 to 26, 29, 30, 32 or 33");
  }
  amino_acids_ = found->second;
}

char GeneticCode::amino_acid(const Codon& codon) const {
  size_t place = 0;
  for (const uint8_t letter : codon) {
    if (letter == kOtherLetter) return 'X';
    place = 4 * place + kPlaces[letter];
  }
  return amino_acids_[place];
}

std::vector<Codon> parse_starts(const std::string& list, const GeneticCode& code) {
  std::vector<Codon> starts;
  const auto refuse = [&](std::string_view text, const std::string& what) {
    throw SettingError("annotate", "start", "start codon '" + printable(text) + "' " + what);
  };
  for (const std::string_view text : split(list, ',')) {
    Codon codon{};
    if (text.size() == codon.size()) std::transform(text.begin(), text.end(), codon.begin(), letter_number);
    if (text.size() != codon.size() || std::count(codon.begin(), codon.end(), kOtherLetter) > 0)
      refuse(text, "is not three letters of A, C, G and T; expected a list such as ATG,GTG");
    if (code.is_stop(codon))
      refuse(text,
             "is a stop codon of code " + std::to_string(code.number()) + "; expected codons that are none");
    starts.push_back(codon);
  }
  return starts;
}

}  // namespace carbon
