// variants: log-likelihood ratios of variants, as `carbon vep` computes them. A result has values, one for
// each tag of the recipe (of recipe head one for each label), and flag, why a value is missing, or nothing.
#pragma once

#include <memory>

#include "src/vep/recipe.hpp"
#include "src/vep/variant_scores.hpp"
#include "src/verbs/variant_input.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {

class VariantsVerb : public Verb {
 public:
  /// Plans a variant with one ALT. Those that are planned together share windows.
  virtual void add(PlacedVariant variant, const Emit& emit) = 0;
  /// Are the variants on a sequence that is sent with them?
  virtual bool has_sequence() const = 0;
  using Verb::add;
};

/// Inputs are texts of variants. Throws Error.
std::unique_ptr<Verb> make_variants_verb(const VerbContext& context, const ReadSettings& read);

}  // namespace carbon
