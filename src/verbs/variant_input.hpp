// A variant as an input of the verb variants has it: an object of JSON or a short text comes in, or a record
// of a VCF, of which such an object is made.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "src/formats/vcf.hpp"
#include "src/vep/variant_scores.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {

/// The contig of variants on a sequence that is sent with them.
inline constexpr const char* kVariantSequence = "sequence";

/// A variant of a request: pos, ref, alt, and chrom unless it is `placed` on kVariantSequence; of
/// <DEL>, <DUP> and <INV> also end, svlen, or info, an object of INFO tags. Throws
/// FieldError. `note` is that of VerbContext.
PlacedVariant read_variant(const Fields& variant, bool placed,
                           const std::function<void(const std::string&)>& note);

/// The same of a text: such an object, or "chr17:43094692 G>T" (without contig if `placed`).
PlacedVariant read_variant(const std::string& name, std::string_view text, bool placed,
                           const std::function<void(const std::string&)>& note);

/// The object that read_variant() reads, for an ALT of a record that `vcf` has read. A structural allele has
/// svlen, and in info the bases that are inserted, if structural_alleles() knows of the record what it does.
std::string variant_text(const VcfReader& vcf, const VcfRecord& record, size_t alt);

}  // namespace carbon
