// Deletions, duplications and inversions that a VCF names instead of spelling them out: <DEL>, <DUP>,
// <DUP:TANDEM> and <INV>, as Manta, Delly and Sniffles write them in VCF 4.2 to 4.4.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/genome/vcf.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// The values of an INFO tag in the record in question.
using InfoSource = std::function<InfoValues(const std::string& tag)>;

/// For each of `alts` (upper-case) what it does with bases POS+1 to POS+length; none if it is no such allele
/// or if its ends are not exactly known. `pos` is 0-based.
///
/// The length is END - POS where the record has one ALT and an END, else |SVLEN| of the ALT. The ends are not
/// known if an END and SVLEN that are both given disagree, with IMPRECISE, and without PRECISE if CIPOS or
/// CIEND spans more than HOMLEN, the length of a repeat that leaves the place open and the variant the same.
std::vector<std::optional<StructuralAllele>> structural_alleles(int64_t pos,
                                                                const std::vector<std::string>& alts,
                                                                const InfoSource& info);

/// The alleles with all letters. `base` is the contig's base at `pos`, `bases` are those after it.
Variant spelled_out(int64_t pos, char base, const StructuralAllele& allele, const std::string& bases);

}  // namespace carbon
