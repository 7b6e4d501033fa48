// variants: log-likelihood ratios of variants, as `carbon vep` computes them. A result has values, one for
// each tag of the recipe (of recipe head one for each label), and flag, why a value is missing, or nothing.
#pragma once

#include <memory>

#include "src/formats/vcf.hpp"
#include "src/vep/recipe.hpp"
#include "src/vep/variant_scores.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {

/// The contig of variants on a sequence that is sent with them.
inline constexpr const char* kVariantSequence = "sequence";

class VariantsVerb : public Verb {
 public:
  /// Plans a variant with one ALT. Those that are planned together share windows.
  virtual void add(PlacedVariant variant, const Emit& emit) = 0;
  /// Are the variants on a sequence that is sent with them?
  virtual bool has_sequence() const = 0;
  using Verb::add;
};

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

/// Inputs are texts of variants. Throws Error.
std::unique_ptr<Verb> make_variants_verb(const VerbContext& context, const ReadSettings& read);

}  // namespace carbon
