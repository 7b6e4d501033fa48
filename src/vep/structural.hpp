// Deletions, duplications and inversions that a VCF names instead of spelling them out: <DEL>, <DUP>,
// <DUP:TANDEM> and <INV>, as Manta, Delly and Sniffles write them in VCF 4.2 to 4.4.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/formats/vcf.hpp"
#include "src/vep/variant.hpp"

namespace carbon {

/// The values of an INFO tag in the record in question.
using InfoSource = std::function<InfoValues(const std::string& tag)>;

/// For each of `alts` (upper-case) what it does with bases POS+1 to POS+length; none if it is no such allele,
/// if its ends are not exactly known, or if the record says of it what the letters would not have.
/// `pos` is 0-based.
///
/// docs/conventions.md, "Named alleles", has the rules. A tag that is there but cannot be read is never taken
/// for an absent one.
std::vector<std::optional<StructuralAllele>> structural_alleles(int64_t pos,
                                                                const std::vector<std::string>& alts,
                                                                const InfoSource& info);

/// The alleles with all letters. `base` is the contig's base at `pos`, `bases` are those after it.
Variant spelled_out(int64_t pos, char base, const StructuralAllele& allele, const std::string& bases);

}  // namespace carbon
