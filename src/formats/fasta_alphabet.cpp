#include "src/formats/fasta_alphabet.hpp"

#include <array>
#include <string_view>

#include "src/base/error.hpp"

namespace carbon {
namespace {

// Letters of amino acids that are no IUPAC code of bases: a third of the letters of proteins. X is left out,
// because it also masks bases.
constexpr std::string_view kOnlyAminoAcids = "EFIJLOPQZefijlopqz";

constexpr std::array<bool, 256> amino_acid_table() {
  std::array<bool, 256> table{};
  for (const char c : kOnlyAminoAcids) table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kIsAminoAcid = amino_acid_table();

// Fewer such letters may be damage in DNA, whose windows have no score then.
constexpr size_t kFewest = 5;
constexpr size_t kOneIn = 10;

}  // namespace

bool read_as_dna(std::string& sequence, const std::string& where, const std::string& function) {
  size_t amino_acids = 0;
  bool rna = false;
  for (char& c : sequence) {
    amino_acids += kIsAminoAcid[static_cast<unsigned char>(c)] ? 1 : 0;
    const char letter = dna_letter(c);
    rna = rna || letter != c;
    c = letter;
  }
  if (amino_acids >= kFewest && amino_acids * kOneIn >= sequence.size())
    throw Error(function,
                where + " looks like a protein: " + std::to_string(amino_acids) + " of " +
                    std::to_string(sequence.size()) +
                    " letters (such as E, F, I, L, P, Q) are those of amino acids only, and the models "
                    "read DNA; if it is DNA, write N for these letters");
  return rna;
}

std::string read_as_t(const std::string& where) {
  return where + " has the letter U; it is read as T";
}

void FastaDna::read(std::string& sequence, const std::string& where) {
  if (read_as_dna(sequence, where, function_) && !std::exchange(rna_seen_, true))
    log_.warning(function_, read_as_t(where));
}

}  // namespace carbon
