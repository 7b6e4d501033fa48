// The standard genetic code, and how often human and mouse genes use each codon.
//
// The counts are those of the Codon Usage Database of the Kazusa DNA Research Institute
// (https://www.kazusa.or.jp/codon/, from GenBank release 160.0 of June 2007; Nakamura, Gojobori and Ikemura,
// Nucleic Acids Research 28:292, 2000): Homo sapiens, taxon 9606, 40,662,582 codons of 93,487 coding
// sequences, and Mus musculus, taxon 10090, 24,533,776 codons of 53,036.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carbon_plugins {

constexpr size_t kCodons = 64;

/// Amino acids of the codons in the order of their letters A, C, G, T; * for a stop.
constexpr char kAminoAcids[] = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";
constexpr std::string_view kCodonLetters = "ACGT";

inline std::string codon(size_t index) {
  return {kCodonLetters[index / 16], kCodonLetters[index / 4 % 4], kCodonLetters[index % 4]};
}

/// 0 to 63, of three letters A, C, G, T.
inline size_t codon_index(std::string_view bases) {
  size_t index = 0;
  for (const char base : bases) index = index * 4 + kCodonLetters.find(base);
  return index;
}

inline bool is_stop(size_t index) {
  return kAminoAcids[index] == '*';
}

/// The other codons of the same amino acid, in order; none for a stop.
inline std::vector<size_t> synonyms(size_t own) {
  std::vector<size_t> out;
  for (size_t i = 0; i < kCodons; ++i)
    if (i != own && kAminoAcids[i] == kAminoAcids[own] && !is_stop(own)) out.push_back(i);
  return out;
}

/// Counts in the same order.
using CodonCounts = std::array<uint32_t, kCodons>;

// One line for each first and second letter.
constexpr CodonCounts kHumanCodons = {
    993621,  776603,  1295568, 689701,  // AA
    614523,  768147,  246105,  533609,  // AC
    494682,  791383,  486463,  493429,  // AG
    304565,  846466,  896005,  650473,  // AT
    501911,  613713,  1391973, 441711,  // CA
    688038,  804620,  281570,  713233,  // CC
    250760,  423516,  464485,  184609,  // CG
    290751,  796638,  1611801, 536515,  // CT
    1177632, 1020595, 1609975, 885429,  // GA
    643471,  1127679, 299495,  750096,  // GC
    669873,  903565,  669768,  437126,  // GG
    287712,  588138,  1143534, 448607,  // GT
    40285,   622407,  32109,   495699,  // TA
    496448,  718892,  179419,  618711,  // TC
    63237,   513028,  535595,  430311,  // TG
    311881,  824692,  525688,  714298,  // TT
};
constexpr CodonCounts kMouseCodons = {
    537723, 499149, 825270, 382284,  // AA
    391437, 465115, 138180, 335039,  // AC
    297135, 483013, 299472, 311331,  // AG
    180467, 552184, 559953, 377698,  // AT
    293318, 375626, 836320, 260637,  // CA
    423707, 446868, 151521, 450637,  // CC
    161412, 229758, 250836, 114854,  // CG
    198032, 495018, 969515, 329757,  // CT
    661498, 638504, 965963, 515049,  // GA
    388723, 637878, 157124, 491093,  // GC
    411344, 520069, 372099, 280522,  // GG
    182733, 377902, 696158, 262535,  // GT
    23403,  394074, 19126,  298518,  // TA
    289799, 444041, 103815, 398250,  // TC
    40148,  301384, 306619, 279729,  // TG
    165150, 535439, 329668, 422153,  // TT
};

/// The codon of the same amino acid with the highest count, often `own` itself; a stop stays.
inline size_t commonest_synonym(size_t own, const CodonCounts& counts) {
  size_t best = own;
  for (const size_t other : synonyms(own))
    if (counts[other] > counts[best]) best = other;
  return best;
}

}  // namespace carbon_plugins
